//! The pages in a real Chromium: what people do with them, and what they then see. Skipped where it is not installed.

mod chromium;
mod common;
mod served;

use chromium::Chromium;
use common::{SMALL_STUDY, prints, small_study};
use served::{Server, Study, until};

/// The places of two marks of the plot in the window: blocks of colour that no line and no letter has.
const MARKS: &str = "(() => {
    const canvas = document.getElementById('canvas');
    canvas.scrollIntoView({ block: 'center' });
    const { width, height } = canvas;
    const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
    const isColoured = (x, y) => {
        const [red, green, blue, alpha] = data.slice(4 * (y * width + x), 4 * (y * width + x) + 4);
        return alpha > 150 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60;
    };
    const found = [];
    for (let x = 90; x < width - 5; x += 1) for (let y = 0; y < height - 5; y += 1) {
        let whole = true;
        for (let i = 0; i < 25 && whole; i += 1) whole = isColoured(x + i % 5, y + Math.floor(i / 5));
        if (whole && found.every(([a, b]) => Math.abs(a - x) + Math.abs(b - y) > 30)) found.push([x, y]);
    }
    const box = canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
    return found.map(([x, y]) => [box.left + (x + 2) / ratio, box.top + (y + 2) / ratio]);
})()";

fn marks(page: &mut Chromium) -> Vec<(f64, f64)> {
    let found = page.value(MARKS);
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    found.as_array().into_iter().flatten().map(|mark| (number(&mark[0]), number(&mark[1]))).collect()
}

/// The texts of a column of the table of runs.
fn column(page: &mut Chromium, number: usize) -> Vec<String> {
    let cells = page.value(&format!(
        "[...document.querySelectorAll('#rows tbody td:nth-child({number})')].map((cell) => cell.textContent)"
    ));
    cells.as_array().into_iter().flatten().filter_map(|cell| Some(cell.as_str()?.to_owned())).collect()
}

/// Whoever looks at the page of a study that is done points at a mark, looks closer, filters and sorts.
fn look_at_small_study(page: &mut Chromium) {
    assert_eq!(page.text("#count"), "20 of 20 runs");
    let all = marks(page);
    assert_eq!(all.len(), 5, "{all:?}");
    page.point_at(all[4]);
    page.wait_for("getComputedStyle(document.getElementById('hint')).display === 'block'");
    assert!(page.text("#hint").contains("size: 16 KiB"), "{}", page.text("#hint"));
    // A rectangle around the last mark leaves that one alone, until all is shown again.
    let (x, y) = all[4];
    page.drag((x - 60.0, y - 10.0), (x + 10.0, y + 30.0));
    assert_eq!(marks(page).len(), 1);
    page.click("#whole");
    assert_eq!(marks(page).len(), 5);
    page.write("#filter", "size>4096, seed=0");
    assert_eq!(page.text("#count"), "0 of 20 runs");
    page.write("#filter", "size>4096");
    assert_eq!(page.text("#count"), "8 of 20 runs");
    assert_eq!(column(page, 2).len(), 8);
    // As people write it, and as it makes no sense.
    page.write("#filter", "size>4KiB, size<=16 KiB, seconds<1 s");
    assert_eq!(page.text("#count"), "8 of 20 runs");
    page.write("#filter", "size>4 us");
    assert_eq!(page.text("#count"), "0 of 20 runs");
    page.write("#filter", "");
    page.click("#rows th:nth-child(2)");
    page.click("#rows th:nth-child(2)");
    let sizes = column(page, 2);
    assert_eq!((sizes.len(), sizes[0].as_str(), sizes[19].as_str()), (20, "16 KiB", "1 KiB"));
    assert!(page.text("#rows th:nth-child(2)").ends_with('▼'));
    // The best combinations, the worst first.
    assert_eq!(page.text("#analyses tr:nth-child(2) td"), "size 2 KiB");
    page.click("#analyses th:nth-child(2)");
    page.click("#analyses th:nth-child(2)");
    assert_eq!(page.text("#analyses tr:nth-child(2) td"), "size 16 KiB");
    assert_eq!(page.text("#analyses tr:first-child th"), "combination");
}

#[test]
fn a_study_and_its_runs_can_be_looked_at() {
    let Some(mut page) = Chromium::start("chromium-study") else { return };
    let (folder, study) = small_study("browser-study");
    let out = folder.path("results/sizes");
    prints(&["study", "run", &study, "--out", &out]);
    prints(&["study", "report", &out]);
    page.open(&format!("file://{out}/report.html"));
    look_at_small_study(&mut page);
    let server = Server::start(&folder.path("results"), &[]);
    page.open(&server.url);
    page.click("table.studies a");
    page.wait_for(
        "document.querySelector('h1')?.textContent === 'Halo exchanges' && document.readyState === 'complete'",
    );
    look_at_small_study(&mut page);
    // From the table to a run, which is drawn.
    page.click("#rows td a");
    page.wait_for("document.querySelector('#draw:enabled') !== null");
    assert!(page.text("h1").starts_with("size 16 KiB"), "{}", page.text("h1"));
    page.click("#draw");
    page.wait_for("document.querySelectorAll('.drawing svg').length === 3");
    assert!(page.text("#picture-gantt").contains("it has found the same"), "{}", page.text("#picture-gantt"));
    assert!(page.value("document.querySelector('#picture-gantt svg').getBoundingClientRect().width > 500") == true);
    // All runs of the store.
    page.open(&format!("{}runs", server.url));
    page.write("input[name=filter]", "size=2 KiB");
    page.click("form button");
    page.wait_for("document.getElementById('found')?.textContent === '4 runs'");
    page.click("#rows th:nth-child(5) a");
    page.wait_for("document.querySelector('#rows th:nth-child(5)')?.textContent === 'seed ▲'");
    assert_eq!(column(&mut page, 5), ["0", "1", "2", "3"]);
    assert!(page.complaints.is_empty(), "{:?}", page.complaints);
}

#[test]
fn a_page_follows_its_study() {
    let Some(mut page) = Chromium::start("chromium-live") else { return };
    let (folder, _) = small_study("browser-live");
    let long = SMALL_STUDY.replace("--count 2", "--count 2000").replace("repetitions = 4", "repetitions = 24");
    let study = folder.write("long.toml", &long);
    std::fs::create_dir_all(folder.path("results")).expect("a folder");
    let server = Server::start(&folder.path("results"), &[]);
    page.open(&server.url);
    let running = Study::start(&study, &folder.path("results/long"));
    // It waits in the midst, so that there is time to look around.
    until("a first run", || {
        let news = server.get("/study/1/news");
        let told: serde_json::Value = serde_json::from_str(&news.body).ok()?;
        (told["ended"].as_u64()? > 0).then_some(())
    });
    running.signal("STOP");
    // The list shows it without being loaded again.
    page.wait_for("document.querySelector('.state.running') !== null");
    page.open(&format!("{}study/1", server.url));
    page.value("window.isSame = true");
    page.write("#filter", "size<8192");
    page.click("#rows th:nth-child(2)");
    page.click("#rows th:nth-child(2)");
    let before = page.value("Number(document.getElementById('ended').textContent)").as_u64().expect("a number");
    assert!((1..72).contains(&before), "the largest sizes have not come yet: {before}");
    let (x, y) = marks(&mut page)[0];
    page.drag((x - 50.0, y + 40.0), (x + 50.0, y - 15.0));
    assert_eq!(marks(&mut page).len(), 1);
    running.signal("CONT");
    page.wait_for("document.querySelector('#standing').textContent.includes('complete')");
    running.finish();
    page.wait_for("document.getElementById('ended').textContent === '120'");
    // The same page, with the same filter, order and part of the plot, although the axes have grown.
    assert_eq!(page.value("window.isSame"), true);
    assert_eq!(page.text("#count"), "72 of 120 runs");
    let sizes = column(&mut page, 2);
    assert_eq!((sizes.len(), sizes[0].as_str(), sizes[71].as_str()), (72, "4 KiB", "1 KiB"));
    assert!(page.text("#rows th:nth-child(2)").ends_with('▼'));
    let seen = marks(&mut page);
    assert_eq!(seen.len(), 1, "{seen:?}");
    page.point_at(seen[0]);
    page.wait_for("document.getElementById('hint').textContent.startsWith('size: 1 KiB')");
    assert!(!page.text(".answer").contains("So far"), "{}", page.text(".answer"));
    assert!(page.text("#analyses").contains("Best combinations"));
    assert!(page.complaints.is_empty(), "{:?}", page.complaints);
}
