/** A notebook, file or directory of the service, as Jupyter's Contents API models it. */
export interface IContents {
  name: string;
  path: string;
  type: 'directory' | 'file' | 'notebook';
  /** Of a directory that was asked for with its content: what lies in it. */
  content: IContents[] | null;
  last_modified: string;
  size: number | null;
  writable: boolean;
}

/** What is said of a local copy that was made of a notebook or file. */
export interface ILocalCopy {
  name: string;
  path: string;
  type: 'file' | 'notebook';
}
