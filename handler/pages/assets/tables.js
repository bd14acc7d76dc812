// Tables that stand in the page get search and sort; without scripts they are plain tables.
for (const table of document.querySelectorAll("table.sortable")) {
  const rows = table.tBodies[0].rows.length;
  new DataTable(table, {
    autoWidth: false, order: [], orderClasses: false, pageLength: 25, paging: rows > 25, searching: rows > 8, info: rows > 8,
    language: { search: "Search", lengthMenu: "_MENU_ in a page", info: "_START_ to _END_ of _TOTAL_", infoFiltered: "(of _MAX_)" },
  });
}
document.documentElement.dataset.table = "ready";
