/** Small letters and single spaces, so that a key, a title and a file's name can be typed in any way. */
export const simplifyName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ')
    .trim();
