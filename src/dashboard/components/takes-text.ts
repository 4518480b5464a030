/** What takes the keys that are pressed in it. Fields that can only be read do not. */
const TAKES_TEXT = ':is(input, textarea):not([readonly]), select, [contenteditable]';

/** Whether the target of a key press takes text. */
export function takesText(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(TAKES_TEXT) !== null;
}
