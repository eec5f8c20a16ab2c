import { FILE_FORMATS, type FileFormat, type ResultCalls } from './calls';

/** Save the whole result as a file of the browser's. Returns the file's name. */
export async function download(calls: ResultCalls, format: FileFormat): Promise<string> {
  const part = Object.entries(calls.part).map(([kind, which]) => `-${kind}-${which}`);
  const name = `command-${calls.command}${part.join('')}.${FILE_FORMATS[format].ending}`;
  saveFile(name, await calls.file(format));
  return name;
}

/** Save a file as one of the browser's downloads. */
export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun to save the file by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
