// The default theme with fonts of the system: the site loads nothing from other servers.
export { default } from 'vitepress/theme-without-fonts';
