import { type JSX, type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';

const MARGIN = 4;

/**
 * A small window below an element, above everything else in the page.
 *
 * It takes the focus, unless `isBeside`, and closes by Escape (which gives the focus back), by a press outside, and when
 * a scroll moves the element away from it.
 */
export function Popover(props: {
  anchor: HTMLElement;
  label: string;
  /** Whether the focus stays where it is. */
  isBeside?: boolean;
  close: () => void;
  children: ReactNode;
}): JSX.Element {
  const { anchor, isBeside = false } = props;
  const host = useRef<HTMLDivElement>(null);
  const focusedBefore = useRef<Element | null>(null);
  const placed = useRef({ top: 0, left: 0 });
  const close = useRef(props.close);
  close.current = props.close;

  useLayoutEffect(() => {
    const node = host.current;
    if (node === null) {
      return;
    }
    // The browser's top layer: no output area or panel cuts it off.
    node.setAttribute('popover', 'manual');
    if ('showPopover' in node) {
      node.showPopover();
    }
    const place = (): void => {
      const at = anchor.getBoundingClientRect();
      placed.current = { top: at.top, left: at.left };
      const { offsetWidth: width, offsetHeight: height } = node;
      const below = at.bottom + MARGIN;
      const isBelow = below + height <= window.innerHeight || at.top < height;
      const top = isBelow
        ? Math.min(below, window.innerHeight - height - MARGIN)
        : at.top - height - MARGIN;
      node.style.top = `${Math.max(MARGIN, top)}px`;
      node.style.left = `${Math.max(MARGIN, Math.min(at.left, window.innerWidth - width - MARGIN))}px`;
    };
    place();
    const observer = new ResizeObserver(place);
    observer.observe(node);
    focusedBefore.current = document.activeElement;
    if (!isBeside) {
      node.querySelector<HTMLElement>('input, select, button')?.focus({ preventScroll: true });
    }
    return () => observer.disconnect();
  }, [anchor, isBeside]);

  useEffect(() => {
    const isOutside = ({ target }: Event): boolean =>
      !(target instanceof Node && (host.current?.contains(target) || anchor.contains(target)));
    const onPress = (event: Event): void => {
      if (isOutside(event)) {
        close.current();
      }
    };
    // The event comes a frame after the scroll: one from before this window was open moves nothing any more.
    const onScroll = (): void => {
      const { top, left } = anchor.getBoundingClientRect();
      if (top !== placed.current.top || left !== placed.current.left) {
        close.current();
      }
    };
    document.addEventListener('pointerdown', onPress, true);
    document.addEventListener('scroll', onScroll, true);
    return () => {
      document.removeEventListener('pointerdown', onPress, true);
      document.removeEventListener('scroll', onScroll, true);
    };
  }, [anchor]);

  return (
    <div
      ref={host}
      className="jp-SvcResult-popover"
      role="dialog"
      aria-label={props.label}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.preventDefault();
          event.stopPropagation();
          props.close();
          const before = focusedBefore.current;
          const isKept = before instanceof HTMLElement && before !== document.body;
          (isKept ? before : anchor).focus({ preventScroll: true });
        }
      }}
    >
      {props.children}
    </div>
  );
}
