import type { ILocalCopy } from '../service/records/contents';
import type { IItem } from './items';

/** What one call tells of an open item. */
export interface IPage {
  items: IItem[];
  /** The page to ask for next; null when that is all. */
  nextPage: number | null;
}

/** One tree of the service. Everything rejects with `ServiceError`. */
export interface ITree {
  /** The tree's own line. */
  readonly item: IItem;
  /** Return a page of what is in an item; pages count from 1. */
  list(item: IItem, page: number): Promise<IPage>;
  /** Make a folder; return its path. */
  create(place: IItem, name: string): Promise<string>;
  /** Return the item's new path. */
  rename(item: IItem, name: string): Promise<string>;
  /** Return the item's new path. */
  move(item: IItem, place: IItem): Promise<string>;
  remove(item: IItem): Promise<void>;
  /** Return the service's words on what a deletion would take; null where it cannot tell before. */
  whatGoes(item: IItem): Promise<string | null>;
  /** Make a copy of an item in a folder of the Jupyter server, under a free name. */
  copy(item: IItem, folder: string): Promise<ILocalCopy>;
}
