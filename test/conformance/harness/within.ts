/**
 * Waits no longer for a promise.
 * @throws Error `no answer within MS ms: TITLE`
 */
export async function within<T>(promise: Promise<T>, ms: number, title: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`no answer within ${ms} ms: ${title}`));
    }, ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
