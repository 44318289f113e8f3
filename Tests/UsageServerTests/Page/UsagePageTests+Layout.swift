import ServerTestSupport
import SnapshotModels
import Testing

/// The layout of the page at every size and with the preferences of users.
extension UsagePageTests {
    private static let widths = [320, 768, 1_280, 2_560]

    @Test("nothing is cut off or out of reach at any width, zoomed, or from right to left")
    func everyWidth() async throws {
        try await open { browser, daemon in
            let long = String(repeating: "long", count: 20)
            try await daemon.push(
                daemon.snapshot(
                    "laptop \(long)", id: "id-of-laptop",
                    daemon.provider(
                        "x", "שם \(long)", account: "\(long)@example.test", plan: long,
                        status: "why \(String(repeating: "word ", count: 60))")))
            try await browser.wait("document.querySelectorAll('.card').length === 3")
            // The last two are a window of 1280 pixels that is zoomed by 200 and 400 percent.
            let sizes = Self.widths.map { ($0, 1_000) } + [(640, 512), (320, 256)]
            for (width, height) in sizes {
                try await browser.show(width: width, height: height)
                for route in Self.routes + ["usage/x%09\(long)%40example.test"] {
                    try await go(to: route, browser)
                    let problems = try await browser.text(Self.problems)
                    #expect(problems == "", "\(route) at \(width)")
                }
                let (sidebar, columns) = try await browser.pair(
                    """
                    const box = $('#sections').getBoundingClientRect();
                    location.hash = '#/usage';
                    return [String(box.height > box.width),
                        String(getComputedStyle($('#panes')).gridTemplateColumns.split(' ').length)]
                    """)
                #expect(sidebar == String(width >= 720) && Int(columns) == (width >= 1_000 ? 2 : 1))
            }
            try await browser.execute("document.documentElement.dir = 'rtl'")
            for route in Self.routes {
                try await go(to: route, browser)
                let problems = try await browser.text(Self.problems)
                #expect(problems == "", "\(route) from right to left")
            }
        }
    }

    /// Text that is cut off or too long to read, and a document that scrolls sideways.
    private static let problems = """
        const problems = [];
        const { scrollWidth, clientWidth } = document.documentElement;
        if (scrollWidth > clientWidth) problems.push(`${scrollWidth} of ${clientWidth} pixels`);
        const walker = document.createTreeWalker($('#app'), NodeFilter.SHOW_TEXT);
        const range = document.createRange();
        while (walker.nextNode()) {
            const [node, parent] = [walker.currentNode, walker.currentNode.parentElement];
            if (!node.data.trim() || !parent.checkVisibility() || parent.closest('.hidden, .scale')) continue;
            range.selectNodeContents(node);
            const inside = parent.closest('.card, .item, .panel, .note, #sections a') ?? document.body;
            const { left, right } = inside.getBoundingClientRect();
            for (const box of range.getClientRects()) {
                if (box.left < left - 1 || box.right > right + 1) problems.push(`cut off: ${node.data}`);
            }
            const lines = new Map();
            for (let i = 0; node.length > 90 && i < node.length; i += 1) {
                range.setStart(node, i);
                range.setEnd(node, i + 1);
                const { top } = range.getBoundingClientRect();
                lines.set(top, (lines.get(top) ?? 0) + 1);
            }
            if (Math.max(0, ...lines.values()) > 90) problems.push(`too long: ${node.data}`);
        }
        return problems.join('\\n');
        """

    @Test("the open account and the scroll position survive resizing, rotating and reloading")
    func survival() async throws {
        try await open(width: 1_280) { browser, _ in
            let route = "usage/codex%09dev%40example.test"
            try await go(to: route, browser)
            #expect(try await browser.text("return $('.selected h2').textContent") == "Codex")
            for (width, height) in [(320, 400), (400, 320), (1_280, 300)] {
                try await browser.show(width: width, height: height)
                let name = width < 760 ? "codex\\tdev@example.test" : "beside"
                try await browser.wait(
                    "(scrollTo(0, 60), Math.abs(sessionStorage['scroll usage \(name)'] - 60) < 2)")
                try await browser.reload()
                try await browser.wait("$('#detail table') && Math.abs(scrollY - 60) < 2")
                #expect(try await browser.text("return location.hash") == "#/\(route)")
            }
            try await browser.show(width: 800)
            // Sections as tabs, then in a sidebar.
            for (layout, isSidebar) in [("tabs", false), ("sidebar", true)] {
                try await go(to: "settings", browser)
                try await browser.execute(
                    "[...document.querySelectorAll('[name=layout]')][\(isSidebar ? 2 : 1)].click()")
                try await browser.wait("$('#app').dataset.layout === '\(layout)'")
                #expect(
                    try await browser.text(
                        "const { width, height } = $('#sections').getBoundingClientRect(); return String(height > width)"
                    ) == String(isSidebar))
            }
        }
    }

    @Test("an account that is opened is beside its card in a wide window, and at the top of a narrow one")
    func opening() async throws {
        try await open(width: 1_280) { browser, daemon in
            let accounts = (10..<50).map { daemon.provider("tool", "Tool", account: "\($0)@example.test") }
            var snapshot = daemon.snapshot("box")
            snapshot.providers = accounts
            try await daemon.push(snapshot)
            try await browser.wait("document.querySelectorAll('.card').length === 42")
            let link = "[...document.querySelectorAll('#list .card a')].find(e => e.hash.includes('48%40'))"
            try await browser.execute("\(link).scrollIntoView(); \(link).click()")
            try await browser.wait("$('#detail .card')")
            try await browser.wait(
                """
                [...document.querySelectorAll('#detail, #list .selected')].every(element => {
                    const { top, bottom, height } = element.getBoundingClientRect();
                    return height > 0 && top >= -1 && bottom <= innerHeight + 1;
                })
                """)
            try await browser.show(width: 400)
            try await go(to: "usage", browser)
            try await browser.execute("\(link).scrollIntoView(); \(link).click()")
            try await browser.wait("$('#detail .card') && $('#detail').getBoundingClientRect().top >= 0")
        }
    }

    @Test("the panels keep their positions", .requiresStableFonts)
    func positions() async throws {
        try await open { browser, _ in
            for width in Self.widths {
                try await browser.show(width: width)
                try await go(to: "usage", browser)
                try await browser.expectLayout(
                    of: "#top, #sections, #sections a, #main, #list, .card, .use", equals: "page-\(width)")
                try await go(to: "usage/codex%09dev%40example.test", browser)
                try await browser.expectLayout(
                    of: "#sections, #list, #detail, #detail .card, .note, .panel", equals: "page-account-\(width)")
            }
        }
    }

    @Test("forced colors and reduced motion are obeyed, and bars are printed without backgrounds")
    func media() async throws {
        try await open { browser, _ in
            guard browser.kind == .chromium else { return }
            let features = [
                ["name": "forced-colors", "value": "active"],
                ["name": "prefers-reduced-motion", "value": "reduce"],
            ]
            try await browser.devTools("Emulation.setEmulatedMedia", ["features": features])
            try await browser.wait("matchMedia('(forced-colors: active)').matches")
            let (bar, rest) = try await browser.pair(
                """
                const [full, empty] = [$('.bar i'), $('.bar')].map(e => getComputedStyle(e));
                const { backgroundColor, transitionDuration, printColorAdjust } = full;
                return [`${backgroundColor} ${transitionDuration} ${printColorAdjust}`, empty.backgroundColor];
                """)
            #expect(bar.hasSuffix(" 0s exact") && !bar.hasPrefix(rest))
        }
    }
}
