import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { VirtualList } from './virtualList';

interface IItem {
  id: number;
}

const ITEMS: IItem[] = Array.from({ length: 10_000 }, (_, id) => ({ id }));

describe('VirtualList', () => {
  let host: HTMLElement;
  let root: Root;

  beforeEach(() => {
    jest.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(280);
    host = document.body.appendChild(document.createElement('div'));
    root = createRoot(host);
  });

  afterEach(() => {
    act(() => {
      root.unmount();
    });
    host.remove();
    jest.restoreAllMocks();
  });

  function show(properties: Partial<Parameters<typeof VirtualList<IItem>>[0]> = {}): void {
    act(() =>
      root.render(
        <VirtualList
          items={ITEMS}
          keyOf={item => String(item.id)}
          render={item => `item ${item.id}`}
          label="items"
          {...properties}
        />
      )
    );
  }

  const rows = (): HTMLElement[] => [...host.querySelectorAll<HTMLElement>('[role="row"]')];
  const reachable = (): string[] =>
    rows()
      .filter(row => row.tabIndex === 0)
      .map(row => row.textContent);
  const press = (key: string): void => {
    const from = rows().find(row => row.tabIndex === 0);
    act(() => {
      from?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    });
  };

  it('has only what is seen in the page', () => {
    show();
    expect(rows().length).toBeLessThan(30);
    expect(host.querySelector('[role="grid"]')?.getAttribute('aria-rowcount')).toBe('10000');
  });

  it('lets Tab reach one row, which the arrows move', () => {
    show();
    expect(reachable()).toEqual(['item 0']);
    press('ArrowDown');
    expect(reachable()).toEqual(['item 1']);
    expect(document.activeElement?.textContent).toBe('item 1');
  });

  it('goes to the end and keeps the keyboard there', () => {
    show();
    press('End');
    expect(document.activeElement?.textContent).toBe('item 9999');
    expect(rows().length).toBeLessThan(40);
  });

  it('keeps the row of the keyboard when others come above it', () => {
    show();
    press('ArrowDown');
    show({ items: [{ id: -1 }, ...ITEMS] });
    expect(reachable()).toEqual(['item 1']);
  });

  it('activates by Enter, and leaves other keys to its owner', () => {
    const onActivate = jest.fn();
    const onKey = jest.fn(({ key }: { key: string }) => key === 'F2');
    show({ onActivate, onKey });
    press('Enter');
    press('F2');
    expect(onActivate).toHaveBeenCalledWith(ITEMS[0]);
    expect(onKey.mock.calls.map(([event]) => event.key)).toEqual(['Enter', 'F2']);
  });

  it('has the first rows again when a list that was scrolled is shorter', () => {
    show();
    press('End');
    const list = host.querySelector<HTMLElement>('[role="grid"]');
    if (list !== null) {
      list.scrollTop = 0; // as a browser does to a list that is hidden meanwhile, without an event
    }
    show({ items: ITEMS.slice(0, 30) });
    expect(rows()[0]?.textContent).toBe('item 0');
  });

  it('asks for more near the end only', () => {
    const onNearEnd = jest.fn();
    show({ onNearEnd });
    expect(onNearEnd).not.toHaveBeenCalled();
    press('End');
    act(() => {
      host.querySelector('[role="grid"]')?.dispatchEvent(new Event('scroll'));
    });
    show({ onNearEnd });
    expect(onNearEnd).toHaveBeenCalled();
  });

  it('shows names as text, whatever they hold', () => {
    show({ items: [{ id: 1 }], render: () => '<img src=x onerror=alert(1)>' });
    expect(host.querySelector('img')).toBeNull();
    expect(rows()[0]?.textContent).toBe('<img src=x onerror=alert(1)>');
  });
});
