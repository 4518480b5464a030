import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { Icon } from '../components/icon.js';
import { pages, pagesFor } from '../pages/pages.js';
import { hrefOf } from '../router/route.js';
import type { Page } from '../router/page.js';
import { useDashboard } from '../state/context.js';

/** The pages. Those that the role may not use stay: they say which role could. */
export function Navigation(): JSX.Element {
  const { router, access } = useDashboard();
  const { page } = router.route.value;
  const current = pages.find(({ name }) => name === page);
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    if (element.current) showCurrent(element.current);
  }, [page]);
  return (
    <nav ref={element} class="pages" aria-label="Pages">
      <ul>
        {pagesFor(access.inCluster)
          .filter(({ parent }) => parent === undefined)
          .map((entry) => (
            <Entry key={entry.name} page={entry} isCurrent={entry.name === (current?.parent ?? page)} />
          ))}
      </ul>
    </nav>
  );
}

/** Where there is little room, the pages are a row that scrolls. `scrollIntoView` would change where Tab begins. */
function showCurrent(nav: HTMLElement): void {
  const link = nav.querySelector<HTMLElement>('[aria-current]');
  if (link) nav.scrollLeft = link.offsetLeft - (nav.clientWidth - link.offsetWidth) / 2;
}

function Entry({ page, isCurrent }: { readonly page: Page; readonly isCurrent: boolean }): JSX.Element {
  const { access, live } = useDashboard();
  const isOff = page.needs !== undefined && access.whyNot(page.needs) !== undefined;
  const waiting = page.name === 'confirmations' ? (live.confirmations.value?.size ?? 0) : 0;
  return (
    <li>
      <a
        href={hrefOf(page.name)}
        class={isOff ? 'off' : undefined}
        aria-current={isCurrent ? 'page' : undefined}
        title={page.key === undefined ? page.title : `${page.title} (g ${page.key})`}
      >
        <Icon name={page.icon} />
        <span>{page.title}</span>
        {waiting > 0 ? <span class="count alert">{waiting}</span> : null}
      </a>
    </li>
  );
}
