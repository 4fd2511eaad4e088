// A click on the title of a column sorts by it: upwards, downwards, and then as it was. Without this script a table is as it was.
for (const table of document.querySelectorAll('table.sortable')) {
  const body = table.tBodies[0];
  const asItWas = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  const key = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.sort === undefined ? cell.textContent.trim() : Number(cell.dataset.sort);
  };
  const isUnknown = (value) => value === '' || value === '–' || value === '-';
  const compare = (a, b) => {
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    return String(a).localeCompare(String(b), 'en', { numeric: true });
  };
  heads.forEach((head, column) => {
    if (head.textContent.trim() === '' || asItWas.length < 2) return;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'sort';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const next = { ascending: 'descending', descending: null }[head.getAttribute('aria-sort')];
      const order = next === undefined ? 'ascending' : next;
      for (const other of heads) other.removeAttribute('aria-sort');
      if (order === null) {
        body.append(...asItWas);
        return;
      }
      head.setAttribute('aria-sort', order);
      const sign = order === 'ascending' ? 1 : -1;
      const rows = asItWas.map((row) => [key(row, column), row]);
      // The unknown is last in either order.
      rows.sort(([a], [b]) => isUnknown(a) - isUnknown(b) || (isUnknown(a) ? 0 : sign * compare(a, b)));
      body.append(...rows.map(([, row]) => row));
    });
  });
}
