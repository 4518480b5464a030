/** What is to be closed, in the order in which it was built. */
export type Disposables = (() => void | Promise<void>)[];
