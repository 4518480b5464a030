import { useSignal } from '@preact/signals';
import type { ComponentType, JSX } from 'preact';
import { useEffect } from 'preact/hooks';

import { PageHead } from '../components/panel.js';
import { ReloadPage } from '../components/button.js';
import { Empty, Loading, NotAllowed } from '../components/states.js';
import { rolesFor } from '../../core/protocol/permissions.js';
import { pages } from '../pages/pages.js';
import type { Page, PageProps } from '../router.js';
import { useDashboard } from '../state/context.js';
import { reloadOnce } from '../state/code.js';

/** Shows the page that the address names. */
export function PageHost(): JSX.Element {
  const { router, access, attention } = useDashboard();
  const route = router.route.value;
  const page = pages.find(({ name }) => name === route.page);
  const waiting = attention.waiting.value;
  useEffect(() => {
    const title = page ? `${page.title} · shell-adapter` : 'shell-adapter';
    document.title = waiting > 0 ? `(${waiting}) ${title}` : title;
  }, [page, waiting]);
  if (!page) return <UnknownPage />;
  if (page.needs !== undefined && access.whyNot(page.needs) !== undefined) {
    return (
      <>
        <PageHead title={page.title} />
        <NotAllowed roles={rolesFor(page.needs)} role={access.info.value?.role ?? ''} />
      </>
    );
  }
  return <LoadedPage key={page.name} page={page} segments={route.segments} />;
}

function LoadedPage({ page, segments }: { readonly page: Page } & PageProps): JSX.Element {
  const loaded = useSignal<{ readonly Content?: ComponentType<PageProps>; readonly problem?: string }>({});
  useEffect(() => {
    page.load().then(
      (Content) => {
        loaded.value = { Content };
      },
      (error: unknown) => {
        if (!reloadOnce()) loaded.value = { problem: String(error) };
      },
    );
  }, [page]);
  const { Content, problem } = loaded.value;
  if (Content) return <Content segments={segments} />;
  if (problem === undefined) return <Loading what={page.title} />;
  return <ReloadPage>The daemon may have been updated since you opened the dashboard. ({problem})</ReloadPage>;
}

const UnknownPage = (): JSX.Element => (
  <>
    <PageHead title="Unknown page" />
    <Empty title="There is no such page">
      The address may be of another version. <a href="#/overview">Go to the overview</a>
    </Empty>
  </>
);
