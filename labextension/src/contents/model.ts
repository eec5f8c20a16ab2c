import { type ISignal, Signal } from '@lumino/signaling';
import { asServiceError } from '../service';
import { Branches, type IBranch, type IRow, LOADING, rebased } from './branches';
import { type IItem, type ITree, keyOf, opens, type TreeName } from './items';

/**
 * The state and the steps of the notebook browser.
 *
 * It calls the service only when the user opens a folder or performs a step.
 */
export class TreeModel<T extends ITree = ITree> {
  private readonly _changed = new Signal<this, void>(this);
  private _branches: Branches;
  private _selected: IItem | null = null;
  private _busy: IItem | null = null;
  private _problem: string | null = null;
  private _search = '';
  /** Of two concurrent refreshes the later one is used. */
  private _looks = 0;

  constructor(readonly trees: readonly T[]) {
    this._branches = new Branches(trees.map(tree => tree.item));
  }

  /** Emitted after each change. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get branches(): Branches {
    return this._branches;
  }

  /** The text searched for, in lower case; empty for none. */
  get search(): string {
    return this._search;
  }

  /** Search in what was read so far; an empty text ends the search. */
  set search(text: string) {
    this._search = text;
    this._changed.emit();
  }

  /** The rows from top to bottom; during a search, those of what was found. */
  get rows(): readonly IRow[] {
    return this._search === '' ? this._branches.rows() : this._branches.found(this._search);
  }

  /** The item with the keyboard focus. */
  get selected(): IItem | null {
    return this._selected;
  }

  /** The item of the step in progress. */
  get busy(): IItem | null {
    return this._busy;
  }

  /** The service's refusal, or null. */
  get problem(): string | null {
    return this._problem;
  }

  /** The keys of the open items, for a later `restore`. */
  get openKeys(): string[] {
    return [...this._branches.open.keys()];
  }

  /** Return the tree that an item belongs to. */
  treeOf(name: TreeName): T {
    const found = this.trees.find(tree => tree.item.tree === name);
    if (!found) {
      throw new Error(`there is no tree ${name}`);
    }
    return found;
  }

  select(item: IItem | null): void {
    this._selected = item;
    this._changed.emit();
  }

  /** Show the contents of an item. An error of the service is shown in their place. */
  async open(item: IItem): Promise<void> {
    if (!opens(item) || this._branches.branch(item)?.isLoading) {
      return;
    }
    this._show(this._branches.with(item, this._branches.branch(item) ?? LOADING));
    const branch = await this._fetch(item);
    if (this._branches.branch(item)) {
      this._show(this._branches.with(item, branch));
    }
  }

  close(item: IItem): void {
    this._show(this._branches.without(item));
  }

  /** Show the next page. */
  async more(item: IItem): Promise<void> {
    const before = this._branches.branch(item);
    if (!before || before.nextPage === null || before.isLoading) {
      return;
    }
    this._show(this._branches.with(item, { ...before, isLoading: true }));
    const next = await this._fetch(item, before.nextPage);
    const known = new Set(before.items.map(keyOf));
    const items = [...before.items, ...next.items.filter(one => !known.has(keyOf(one)))];
    this._show(this._branches.with(item, { ...next, items }));
  }

  /** Refresh all open items. */
  refresh(): Promise<void> {
    return this.restore(this.openKeys);
  }

  /** Open the items with these keys, from the top; deleted ones are skipped. */
  async restore(keys: Iterable<string>): Promise<void> {
    const wanted = new Set(keys);
    const before = this._branches.open;
    const look = ++this._looks;
    let branches = new Branches(this._branches.trees);
    let waiting = branches.trees.filter(tree => wanted.has(keyOf(tree)));
    while (waiting.length) {
      const found = await Promise.all(waiting.map(item => this._fetch(item)));
      const below: IItem[] = [];
      waiting.forEach((item, index) => {
        const branch = found[index] ?? LOADING;
        branches = branches.with(item, branch);
        below.push(...branch.items.filter(one => opens(one) && wanted.has(keyOf(one))));
      });
      waiting = below;
    }
    if (look === this._looks) {
      this._show(branches.after(before, this._branches.open));
    }
  }

  /** Create a folder in an item, and show it. Like all steps it returns whether it succeeded; else see `problem`. */
  create(place: IItem, name: string): Promise<boolean> {
    return this.put(place, async tree => tree.create(place, name));
  }

  rename(item: IItem, name: string): Promise<boolean> {
    return this._do(item, async tree => this._relocated(item, await tree.rename(item, name), []));
  }

  /** Move an item into a folder of its tree, and show it there. After a refusal nothing changes. */
  move(item: IItem, place: IItem): Promise<boolean> {
    return this._do(item, async tree =>
      this._relocated(item, await tree.move(item, place), [keyOf(place)])
    );
  }

  remove(item: IItem): Promise<boolean> {
    return this._do(item, async tree => {
      await tree.remove(item);
      await this.refresh();
      this.select(this._branches.at(item.tree, item.parent));
    });
  }

  /** Run a step that creates an item in a folder, and show the item; `step` returns its path. */
  put(place: IItem, step: (tree: T) => Promise<string>): Promise<boolean> {
    return this._do(place, async tree => {
      const path = await step(tree);
      await this.restore([...this.openKeys, keyOf(place)]);
      this._selectPath(place.tree, path);
    });
  }

  /** Run a call about an item that does not change the tree; null when it was refused. */
  async ask<R extends object>(item: IItem, step: (tree: T) => Promise<R>): Promise<R | null> {
    const answers: R[] = [];
    await this._do(item, async tree => answers.push(await step(tree)));
    return answers[0] ?? null;
  }

  /** Clear the refusal. */
  forgive(): void {
    this._problem = null;
    this._changed.emit();
  }

  private async _do(item: IItem, step: (tree: T) => Promise<unknown>): Promise<boolean> {
    this._busy = item;
    this._problem = null;
    this._changed.emit();
    try {
      await step(this.treeOf(item.tree));
    } catch (reason) {
      this._problem = asServiceError(reason).message;
    } finally {
      this._busy = null;
      this._changed.emit();
    }
    return this._problem === null;
  }

  private async _relocated(item: IItem, path: string, opened: string[]): Promise<void> {
    await this.restore([...rebased([...this.openKeys, ...opened], item, path)]);
    this._selectPath(item.tree, path);
  }

  private _selectPath(tree: TreeName, path: string): void {
    const row = this._branches
      .rows()
      .find(one => one.kind === 'item' && one.item.tree === tree && one.item.path === path);
    this.select(row?.item ?? null);
  }

  private async _fetch(item: IItem, page = 1): Promise<IBranch> {
    try {
      const found = await this.treeOf(item.tree).list(item, page);
      return { ...found, problem: null, isLoading: false };
    } catch (reason) {
      const problem = asServiceError(reason).message;
      return { items: [], nextPage: null, problem, isLoading: false };
    }
  }

  private _show(branches: Branches): void {
    this._branches = branches;
    if (this._selected) {
      this._selected = branches.find(keyOf(this._selected));
    }
    this._changed.emit();
  }
}
