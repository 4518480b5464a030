for i in {1..3}; do case $i in a) ls;; *) f() { rm x; }; esac; done
