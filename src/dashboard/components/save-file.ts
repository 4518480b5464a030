/** Offers a file for saving. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // Browsers begin to read it at the click.
  setTimeout(() => {
    URL.revokeObjectURL(link.href);
  }, 60_000);
}
