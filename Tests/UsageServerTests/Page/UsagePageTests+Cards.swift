import Foundation
import ServerTestSupport
import SnapshotModels
import Testing
import UsageState

/// Cards and rows: what is known of old numbers, any account, any size of text.
extension UsagePageTests {
    /// An account with one window.
    private func account(
        _ daemon: PageDaemon, _ name: String, account: String? = "dev@example.test", _ percent: Double,
        _ minutes: Int = 10_080, resetsInMinutes: Double = 2_000.5, minutesAgo: Double = 0,
        change: (inout ProviderUsageSnapshot) -> Void = { _ in }
    ) -> ProviderUsageSnapshot {
        var account = ProviderUsageSnapshot(
            providerID: name.lowercased(), providerName: name, accountEmail: account, loginMethod: "Pro",
            lastUpdated: daemon.start.addingTimeInterval(-minutesAgo * 60),
            rateWindows: [daemon.window(percent, minutes, resetsInMinutes: resetsInMinutes)])
        change(&account)
        return account
    }

    /// Old, old but critical, reset, and unreadable.
    private func pushOld(_ daemon: PageDaemon) async throws {
        let reset = account(daemon, "Qwen", 30, 300, resetsInMinutes: -2_800, minutesAgo: 2_880)
        try await daemon.push(
            daemon.snapshot(
                "desk",
                account(daemon, "Codex", 62, minutesAgo: 120),
                account(daemon, "Kimi", 97, minutesAgo: 2_880),
                account(daemon, "Amp", 43, minutesAgo: 30),
                account(daemon, "Warp", account: nil, 0) {
                    ($0.isError, $0.statusMessage, $0.rateWindows) = (true, "cannot read state.sqlite", [])
                },
                reset))
        let history = UsageHistory.even(
            reset, until: reset.lastUpdated, resetsAt: daemon.start.addingTimeInterval(-2_800 * 60), quarters: 10)
        try await daemon.put(HistoryCodec.encode(history), key: UsageHistory.storeKey(deviceID: "id-of-desk"))
    }

    @Test("a row says that its number is old or reset, or that the tool cannot be read, and warns of nothing old")
    func oldRows() async throws {
        try await open(width: 390) { browser, daemon in
            try await pushOld(daemon)
            try await browser.wait("document.querySelectorAll('.card.compact').length === 5")
            func row(_ name: String) async throws -> String {
                try await browser.text(
                    """
                    const [card] = [...document.querySelectorAll('.card')].filter(e => e.textContent.startsWith('\(name)'));
                    return [...card.querySelectorAll('.age, .amount, .more, .message')].filter(e => e.checkVisibility())
                        .map(e => e.innerText.trim()).join(' | ');
                    """)
            }
            #expect(try await row("Codex").hasPrefix("stale, as of 2 h ago | ~62 % | resets in "))
            #expect(try await row("Kimi").hasPrefix("stale, as of 2 d ago | !! at least 97 % | "))
            #expect(try await row("Amp").hasPrefix("as of 30 min ago | 43 % | resets in "))
            #expect(try await row("Warp") == "error: cannot read state.sqlite")
            #expect(try await row("Qwen").hasPrefix("stale, as of 2 d ago | reset "))
            try await browser.execute("localStorage.setItem('options', JSON.stringify({ measure: 'left' }))")
            try await browser.reload()
            try await browser.wait(shows("!! at most 3 %", in: ".card .amount"))
        }
    }

    @Test("the history says what is not of now, and says few samples in a line")
    func oldHistory() async throws {
        try await open { browser, daemon in
            try await pushOld(daemon)
            try await go(to: "history", browser)
            for text in [
                "62 % used 2 h ago · too few readings for a plot", "now 43 % used · too few readings for a plot",
                "reset since, no newer data, at most ", ", 1 reset, limit never reached",
            ] {
                try await browser.wait(shows(text, in: ".plot p"))
            }
            let pictures = "[...document.querySelectorAll('.plot svg')].filter(e => e.checkVisibility()).length"
            #expect(try await browser.execute("return \(pictures)") as? Int == 1)
            for width in [320, 1_280] {
                try await browser.show(width: width)
                let cut = try await browser.text(
                    """
                    const range = document.createRange();
                    return [...document.querySelectorAll('.scale span')].filter(day => {
                        range.selectNodeContents(day);
                        const [box, text] = [day.getBoundingClientRect(), range.getBoundingClientRect()];
                        return text.top < box.bottom - 1 && text.right > box.right + 1;
                    }).map(e => e.textContent).join();
                    """)
                #expect(cut == "", "\(width)")
            }
        }
    }

    @Test("every link of the page opens an account with any characters in its name")
    func anyAccount() async throws {
        try await open { browser, daemon in
            let name = "a b+c&d%e/f#g?h"
            let cost = SyncCostSummary(
                last30DaysCostUSD: 3, last30DaysTokens: 4_000,
                daily: [
                    SyncDailyCost(
                        dayKey: String(daemon.start.ISO8601Format().prefix(10)), costUSD: 3, totalTokens: 4_000)
                ])
            try await daemon.push(
                daemon.snapshot("desk", daemon.provider(account: name, cost: cost), daemon.provider(cost: cost)))
            for section in ["usage", "history", "spending"] {
                try await go(to: section, browser)
                let link = "[...document.querySelectorAll('#list a')].find(e => e.hash.endsWith('%3Fh'))"
                try await browser.wait(link)
                if section == "history" {
                    try await browser.wait("\(link).closest('.past').querySelector('figure')")
                }
                try await browser.execute("\(link).click()")
                try await browser.wait(shows("Tokens and cost by day", in: "#detail h3"))
                #expect(try await browser.text("return $('#detail .who').textContent") == "\(name) · Plus")
                try await browser.reload()
                try await browser.wait(shows("Tokens and cost by day", in: "#detail h3"))
            }
        }
    }

    @Test("no word of a card or tab is broken, and nothing overlaps or is cut off, also where text has twice its size")
    func textSizes() async throws {
        try await open { browser, daemon in
            try await daemon.push(
                daemon.snapshot(
                    "desk", daemon.provider("claude", "Claude", plan: "Max 20x", session: 12, weekly: 93),
                    daemon.provider(account: "dev@example.test (Plus)"),
                    account(daemon, "Amp", account: "a@b.test", 97, 300, resetsInMinutes: 150.5),
                    account(daemon, "Kimi", 97, minutesAgo: 2_880),
                    account(daemon, "Warp", account: nil, 0) {
                        ($0.isError, $0.statusMessage, $0.rateWindows) = (true, "cannot read state.sqlite", [])
                    }))
            try await browser.wait("document.querySelectorAll('.card').length === 5")
            for width in [320, 375, 768] {
                try await browser.show(width: width)
                for route in ["usage", "usage/amp%09a%40b.test"] {
                    try await browser.execute("location.hash = '#/\(route)'")
                    try await browser.wait("$('#detail').childElementCount > 0 === \(route != "usage")")
                    try await browser.wait("\(width > 640) || $('.compact')")
                    #expect(try await browser.text(Self.brokenText) == "", "\(route) at \(width)")
                    try await browser.execute(
                        """
                        const elements = [...document.querySelectorAll('body, body *')];
                        const sizes = elements.map(element => parseFloat(getComputedStyle(element).fontSize));
                        elements.forEach((element, index) => { element.style.fontSize = `${2 * sizes[index]}px`; });
                        """)
                    #expect(try await browser.text(Self.brokenText) == "", "\(route) at \(width), twice the size")
                    try await browser.execute(
                        "for (const element of document.querySelectorAll('body, body *')) element.style.fontSize = ''")
                }
            }
        }
    }

    /// Words of cards and tabs in several lines, over others or outside.
    private static let brokenText = """
        const problems = [];
        const { scrollWidth, clientWidth } = document.documentElement;
        if (scrollWidth > clientWidth) problems.push(`${scrollWidth} of ${clientWidth} pixels`);
        const range = document.createRange();
        for (const outer of document.querySelectorAll('.card, #sections a')) {
            const { left, right, bottom } = outer.getBoundingClientRect();
            const walker = document.createTreeWalker(outer, NodeFilter.SHOW_TEXT);
            const words = [];
            while (walker.nextNode()) {
                const { currentNode: node, currentNode: { parentElement: parent } } = walker;
                if (!parent.checkVisibility() || getComputedStyle(parent).clipPath !== 'none') continue;
                for (const { index, 0: word } of node.data.matchAll(/\\S+/g)) {
                    range.setStart(node, index);
                    range.setEnd(node, index + word.length);
                    const boxes = [...range.getClientRects()].filter(box => box.width > 0);
                    if (new Set(boxes.map(box => Math.round(box.top))).size > 1) problems.push(`broken: ${word}`);
                    words.push(...boxes.map(box => ({ box, word })));
                }
            }
            for (const { box, word } of words) {
                const isInside = box.left >= left - 1 && box.right <= right + 1 && box.bottom <= bottom + 1;
                if (!isInside) problems.push(`cut off: ${word}`);
                const over = words.find(({ box: other }) => {
                    const width = Math.min(box.right, other.right) - Math.max(box.left, other.left);
                    const height = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
                    // The boxes of letters are higher than their lines.
                    return other !== box && width > 1 && height > Math.min(box.height, other.height) / 3;
                });
                if (over) problems.push(`${word} over ${over.word}`);
            }
        }
        return problems.join('\\n');
        """
}
