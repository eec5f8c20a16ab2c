import type { FileFormat, ResultCalls } from './calls';

/** Save the whole result as a file of the browser's. Returns the file's name. */
export async function download(calls: ResultCalls, format: FileFormat): Promise<string> {
  const name = `command-${calls.command}.${format.toLowerCase()}`;
  const address = URL.createObjectURL(await calls.file(format));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun to save the file by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  return name;
}
