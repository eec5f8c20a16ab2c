import { type ISignal, Signal } from '@lumino/signaling';
import { asServiceError } from '../service';
import { Branches, type IBranch, type IRow, LOADING, rebased } from './branches';
import { foundRows } from './found';
import { type IFound, type IItem, type ITree, keyOf, opens, placeAt, type TreeName } from './items';

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
  private _found: ReadonlyMap<TreeName, IFound | null> = new Map();
  private _isSearching = false;
  /** Of two concurrent searches the later one is used. */
  private _searches = 0;
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

  /** Whether the service's answer to the search is awaited; meanwhile the rows are of what was read before. */
  get isSearching(): boolean {
    return this._isSearching;
  }

  /** Whether the service searches in all trees; where it does not, what was read so far is searched. */
  get isWhole(): boolean {
    return this.trees.every(tree => this._found.get(tree.item.tree));
  }

  /** The rows from top to bottom; during a search, those of what was found. */
  get rows(): readonly IRow[] {
    if (this._search === '') {
      return this._branches.rows();
    }
    const read = (tree: TreeName): IFound => ({
      items: this._branches.found(tree, this._search),
      leftOut: null
    });
    const names = this.trees.map(tree => tree.item.tree);
    return foundRows(
      this._branches,
      new Map(names.map(name => [name, this._found.get(name) ?? read(name)]))
    );
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

  /** Search in all folders; an empty text ends the search. An error of the service is the model's `problem`. */
  async find(text: string): Promise<void> {
    const search = ++this._searches;
    if (text !== this._search) {
      this._found = new Map();
    }
    this._search = text;
    this._isSearching = text !== '';
    if (text === '') {
      this._keepSelection();
      return;
    }
    this._changed.emit();
    let found = this._found;
    let problem: string | null = null;
    try {
      found = new Map(
        await Promise.all(
          this.trees.map(async tree => [tree.item.tree, await searched(tree, text)] as const)
        )
      );
    } catch (reason) {
      problem = asServiceError(reason).message;
    }
    if (search === this._searches) {
      this._found = found;
      this._problem = problem;
      this._isSearching = false;
      this._keepSelection();
    }
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

  /** Refresh all open items, and what was found. */
  refresh(): Promise<void> {
    return this._again(this.openKeys);
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
      this.select(this._shown(keyOf(placeAt(item.tree, item.parent))));
    });
  }

  /** Run a step that creates an item in a folder, and show the item; `step` returns its path. */
  put(place: IItem, step: (tree: T) => Promise<string>): Promise<boolean> {
    return this._do(place, async tree => {
      const path = await step(tree);
      await this._again([...this.openKeys, keyOf(tree.item), keyOf(place)]);
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
    await this._again([...rebased([...this.openKeys, ...opened], item, path)]);
    this._selectPath(item.tree, path);
  }

  private _selectPath(tree: TreeName, path: string): void {
    const row = this.rows.find(
      one => one.kind === 'item' && one.item.tree === tree && one.item.path === path
    );
    this.select(row?.item ?? null);
  }

  private async _again(keys: Iterable<string>): Promise<void> {
    await this.restore(keys);
    if (this._search !== '') {
      await this.find(this._search);
    }
  }

  /** Return the item of a row. */
  private _shown(key: string): IItem | null {
    const row = this.rows.find(one => one.kind === 'item' && keyOf(one.item) === key);
    return row?.item ?? null;
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
    this._keepSelection();
  }

  /** Keep the selected item as long as it has a row. */
  private _keepSelection(): void {
    this._selected = this._selected && this._shown(keyOf(this._selected));
    this._changed.emit();
  }
}

/** Return what a tree has of a text; null where the service does not search. */
async function searched(tree: ITree, text: string): Promise<IFound | null> {
  try {
    return await tree.find(text);
  } catch (reason) {
    const error = asServiceError(reason);
    if (error.isUnreachable) {
      throw error;
    }
    // Where the user may see nothing, there is nothing to be found either.
    return error.status === 403 ? { items: [], leftOut: null } : null;
  }
}
