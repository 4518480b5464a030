cut -c1- ~/.ssh/id_rsa
