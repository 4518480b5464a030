/** Functions to call at shutdown, in the order of construction. */
export type Disposables = (() => void | Promise<void>)[];
