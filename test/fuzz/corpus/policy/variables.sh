alias a=b; a; export PATH=/x:$PATH; x=${y:-$(z)}; trap "rm x" EXIT; env -S "a b" c
