cat <<X | awk '{print $1}' | sed -e 's/a/b/w x' | xargs -I{} sh -c 'echo {}'
$(date)
X
