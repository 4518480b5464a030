rm -rf "$x" && echo $(cat <(sort a)) | sudo sh -c "eval 'ls'" > /etc/x 2>&1
