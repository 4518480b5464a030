n=$(cat f); [ -v "list[$n]" ]
