import { ICONS } from './statuses';

/**
 * Return the icon of a status, the same as in the kernel's panels; a dot for an unknown one. Always shown with a word.
 */
export function iconOf(status: string): string {
  return ICONS.get(status.toLowerCase()) ?? '·';
}

/** Return a running time as `00:04` or `1:02:03`. */
export function runningTime(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  const rest = `${two(minutes)}:${two(whole % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}
