/**
 * Return the offset in a text with other white space that has the same characters before it.
 *
 * @param before - The text with the offset `at`
 * @param after - The same text, with other white space
 */
export function placeOf(before: string, at: number, after: string): number {
  let left = before.slice(0, at).replace(/\s/g, '').length;
  let place = 0;
  while (left > 0 && place < after.length) {
    left -= /\s/.test(after.charAt(place)) ? 0 : 1;
    place += 1;
  }
  return place;
}
