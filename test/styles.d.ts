/** The style sheets that pages of the dashboard import. */
declare module '*.css';
