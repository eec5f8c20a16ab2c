import type { JSX, ReactNode } from 'react';

/** The emphasis of an icon, besides its word: red, orange, green, blue for what is under way, grey. */
export type Tone = 'bad' | 'warning' | 'good' | 'busy' | 'calm';

/** The height of a row of two lines, in pixels. */
export const TWO_LINES = 44;

/** The content of a row of two lines. */
export interface ITwoLinesProps {
  /** One character; its word is for screen readers, and for colours that are not seen. */
  icon: string;
  word: string;
  tone: Tone;
  title: ReactNode;
  facts: ReactNode;
  /** The lines at the end, never cut: a duration over a time. */
  side?: readonly ReactNode[];
  /** 0 to 100: a bar at the row's foot. */
  progress?: number;
  /** The whole of it for the pointer, where a line may be cut. */
  hover?: string;
}

/** A row of two lines: an icon, a title over its facts, and at the end a duration over a time. */
export function TwoLines(props: ITwoLinesProps): JSX.Element {
  const { icon, word, tone, title, facts, side = [], progress, hover } = props;
  return (
    <div className="jp-SvcRow" title={hover}>
      <span className={`jp-SvcRow-icon jp-SvcTone jp-mod-${tone}`}>
        <span className="jp-SvcTone-icon" aria-hidden="true">
          {icon}
        </span>
        <span className="jp-SvcUnseen">{word} </span>
      </span>
      <div className="jp-SvcRow-main">
        <div className="jp-SvcRow-title">{title}</div>
        <div className="jp-SvcRow-facts">{facts}</div>
      </div>
      {side.length > 0 && (
        <div className="jp-SvcRow-side">
          {side.map((line, place) => (
            <div key={place}>{line}</div>
          ))}
        </div>
      )}
      {progress !== undefined && progress > 0 && (
        <div className="jp-SvcRow-progress" aria-hidden="true">
          <div style={{ width: `${Math.min(progress, 100)}%` }} />
        </div>
      )}
    </div>
  );
}
