import Foundation
import ServerTestSupport
import SnapshotModels
import Testing
import UsageState

/// A year of spending on the page.
extension UsagePageTests {
    /// A year of use until today, with a day of so many cents a week ago.
    private func year(_ daemon: PageDaemon, cents: Int = 4_200) -> UsageYear {
        let today = Int(daemon.start.timeIntervalSince1970) / 86_400
        var days = Dictionary(
            uniqueKeysWithValues: (0..<365).map {
                (today - $0, (dollars: Double($0 * 37 % 101) / 4, tokens: $0 * 37 % 101 * 10_000))
            })
        days[today - 70] = (Double(cents) / 100, 1_000_000)
        return UsageYear(days: days, at: daemon.start)
    }

    private func openYear(_ browser: Browser, _ daemon: PageDaemon) async throws {
        try await daemon.put(year(daemon).data, key: UsageYear.storeKey)
        try await go(to: "spending", browser)
        try await browser.wait("document.querySelectorAll('.grid td[data-level]').length > 350")
    }

    @Test("arrow keys move among the days of the year, of which one is a stop of Tab, and each says what it is")
    func yearByKeyboard() async throws {
        try await open { browser, daemon in
            try await openYear(browser, daemon)
            #expect(try await browser.text("return $('.grid').getAttribute('role')") == "grid")
            let isNamed = try await browser.execute(
                """
                return [...document.querySelectorAll('.grid td[data-level]')].every(cell => /^\\w{3} \\d+ \\w{3}( \\d{4})?: /.test(cell.ariaLabel))
                    && document.querySelectorAll('.grid [tabindex="0"]').length === 1;
                """)
            #expect(isNamed as? Bool == true)
            try await browser.execute("$('.grid [tabindex=\"0\"]').focus()")
            func step(_ key: Character) async throws -> Int {
                try await browser.press(key)
                let place = try await browser.text(
                    """
                    const cells = [...document.querySelectorAll('.grid td[data-level]')];
                    const { activeElement } = document;
                    const said = document.querySelector('.weeks + p').textContent;
                    if (!said.endsWith(activeElement.ariaLabel)) return `${said} is not ${activeElement.ariaLabel}`;
                    if (document.querySelectorAll('.grid [tabindex="0"]').length !== 1) return 'several stops';
                    const day = (cell) => 7 * cell.cellIndex + cell.parentElement.rowIndex;
                    return Math.max(...cells.map(day)) - day(activeElement);
                    """)
                return try #require(Int(place), "\(place)")
            }
            #expect(try await step(.end) == 0)
            #expect(
                try await browser.text("return document.querySelector('.weeks + p').textContent").hasPrefix("Today, "))
            #expect(try await step(.right) == 0)
            #expect(try await step(.left) == 7)
            #expect(try await step(.left) == 14)
            #expect(try await step(.down) == 13)
            #expect(try await step(.right) == 6)
            let first = try await step(.home)
            #expect(first > 350)
            #expect(try await step(.left) == first)
            try await browser.execute("document.documentElement.dir = 'rtl'")
            #expect(try await step(.left) == first - 7)
            try await browser.execute("document.documentElement.dir = ''")
            // The focus stays on its day when the year changes.
            _ = try await step(.end)
            for _ in 0..<10 { _ = try await step(.left) }
            #expect(try await browser.text("return document.activeElement.ariaLabel").hasSuffix("$42.00"))
            try await daemon.put(year(daemon, cents: 4_300).data, key: UsageYear.storeKey)
            try await browser.wait("document.activeElement.ariaLabel?.endsWith('$43.00')")
            #expect(try await step(.left) == 77)
        }
    }

    @Test("on the narrowest phone a long account keeps room beside its costs")
    func narrowTable() async throws {
        try await open(width: 320) { browser, daemon in
            let cost = SyncCostSummary(
                last30DaysCostUSD: 12_345.67, last30DaysTokens: 1_245_000_000,
                daily: [
                    SyncDailyCost(
                        dayKey: String(daemon.start.ISO8601Format().prefix(10)), costUSD: 1_234.56,
                        totalTokens: 123_400_000)
                ])
            let account = "someone.with.a.long.name@subsidiary.company.test"
            try await daemon.push(
                daemon.snapshot(
                    "desk", daemon.provider(account: account, cost: cost), daemon.provider(cost: cost)))
            try await go(to: "spending", browser)
            let name = "[...document.querySelectorAll('.panel tbody th')].find(e => e.textContent.includes('someone'))"
            try await browser.wait(name)
            let lines = try await browser.execute(
                "const e = \(name); return e.clientHeight / parseFloat(getComputedStyle(e).lineHeight)")
            #expect(try #require(lines as? Double) < 4)
            #expect(try await browser.execute("return document.documentElement.scrollWidth <= 320") as? Bool == true)
            try await browser.expectNoViolations()
            let heights = "new Set([...document.querySelectorAll('#sections span')].map(e => e.clientHeight)).size"
            #expect(try await browser.execute("return \(heights)") as? Int == 1, "no label of a tab is broken")
        }
    }

    @Test("the year scrolls in its own box, shows the last week first, and is there as a whole where there is room")
    func yearLayout() async throws {
        try await open { browser, daemon in
            for scheme in ["light", "dark"] {
                for width in [320, 768, 1_280, 2_560] {
                    try await browser.show(width: width, scheme: scheme)
                    try await go(to: "usage", browser)
                    try await openYear(browser, daemon)
                    let problems = try await browser.text(
                        """
                        const problems = [];
                        const { scrollWidth, clientWidth } = document.documentElement;
                        if (scrollWidth > clientWidth) problems.push(`${scrollWidth} of ${clientWidth} pixels`);
                        const box = $('.weeks');
                        const edges = box.getBoundingClientRect();
                        const cells = [...document.querySelectorAll('.grid td[data-level]')].map(e => e.getBoundingClientRect());
                        const [first, last] = [cells[0], cells.sort((a, b) => b.right - a.right)[0]];
                        if (last.right > edges.right + 1) problems.push('the last week is out of sight');
                        if (innerWidth >= 1280 && box.scrollWidth > box.clientWidth) problems.push(`scrolls ${box.scrollWidth} of ${box.clientWidth}`);
                        if (innerWidth < 400 && box.scrollWidth <= box.clientWidth) problems.push('does not scroll');
                        if (Math.abs(first.width - first.height) > 1.5 || first.width < 9) problems.push(`${first.width} × ${first.height}`);
                        const head = $('.grid th[scope=row]').getBoundingClientRect();
                        if (Math.abs(head.left - edges.left) > 4) problems.push('weekdays scroll away');
                        return problems.join();
                        """)
                    #expect(problems == "", "\(width) \(scheme)")
                }
                try await browser.expectNoViolations()
            }
        }
    }
}
