import type { IRenderMime } from '@jupyterlab/rendermime';
import { Panel, type Widget } from '@lumino/widgets';
import { type IOrigin, originOf, RESULT_MIME, savedStatus } from './bundle';
import type { IOutputContext } from './outputContext';

/** Milliseconds without a word after which a kernel no longer follows its command: it tells the time each second. */
const SILENCE = 3_000;

/** An output; the code that renders it is loaded with the first one. */
export class OutputRenderer extends Panel implements IRenderMime.IRenderer {
  private _turn = 0;
  private _silence: ReturnType<typeof setTimeout> | undefined;
  /** The command whose line is shown, and whether it is followed here. */
  private _origin: IOrigin | null = null;
  private _isFollowing = false;

  constructor(
    private readonly _context: IOutputContext,
    private readonly _options: IRenderMime.IRendererOptions
  ) {
    super();
    this.addClass(_options.mimeType === RESULT_MIME ? 'jp-SvcResultOutput' : 'jp-SvcStatusOutput');
  }

  override dispose(): void {
    clearTimeout(this._silence);
    super.dispose();
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const turn = ++this._turn;
    clearTimeout(this._silence);
    const data = model.data[this._options.mimeType];
    const { isComplete, isFollowed } = savedStatus(data);
    const isWhole = this._options.mimeType === RESULT_MIME || (isComplete && !isFollowed);
    const origin = originOf(data);
    const goesOn = !isWhole && origin !== null && isSame(origin, this._origin);
    if (goesOn && this._isFollowing) {
      return; // Who follows it knows more than the kernel.
    }
    const { outputOf, continueLine } = await import('./output');
    const output = await outputOf(this._context, this._options, model);
    if (this.isDisposed || turn !== this._turn) {
      output.dispose(); // A later word of the kernel overtook this one.
      return;
    }
    if (goesOn && continueLine(this.node, output.node)) {
      output.dispose();
    } else {
      this._show(output);
    }
    this._origin = origin;
    this._isFollowing = false;
    if (!isWhole && origin !== null) {
      const follow = (): void => void this._follow(origin, model);
      this._silence = setTimeout(follow, isFollowed ? 0 : SILENCE);
    }
  }

  /** Follow the command, since its kernel does not. */
  private async _follow(origin: IOrigin, model: IRenderMime.IMimeModel): Promise<void> {
    const turn = this._turn;
    const { FollowedOutput } = await import('./followed');
    if (!this.isDisposed && turn === this._turn) {
      this._isFollowing = true;
      this._show(new FollowedOutput(this._context, origin, model));
    }
  }

  private _show(output: Widget): void {
    this.widgets.slice().forEach(widget => widget.dispose());
    this.addWidget(output);
  }
}

function isSame(one: IOrigin, other: IOrigin | null): boolean {
  return one.command === other?.command && one.createdAt === other.createdAt;
}
