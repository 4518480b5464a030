/** Name of a node of a cluster: 1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends. */
export const NODE_NAME = /^[a-z0-9](?:[a-z0-9-]{0,22}[a-z0-9])?$/;

/** What a node's name may be, for messages. */
export const NODE_NAME_RULE = '1 to 24 lower-case letters, digits or hyphens, with a letter or digit at both ends';
