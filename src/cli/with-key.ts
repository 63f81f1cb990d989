import { simplifyName } from '../text/simplify-name.ts';

/** A name with the key that commands and files go by, where they differ in more than their spelling. */
export const withKey = (name: string, key: string): string =>
  simplifyName(name) === simplifyName(key) ? name : `${name} (${key})`;
