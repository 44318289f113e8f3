import ServerTestSupport
import Testing

/// Layout and accessibility.
extension PageTests {
    private static let widths = [320, 768, 1_280, 2_560]

    @Test("the document never scrolls sideways", arguments: widths, ["light", "dark"])
    func width(width: Int, scheme: String) async throws {
        try await open(width: width) { browser, client in
            try await client.put(
                String(repeating: "value", count: 100), String(repeating: "k", count: 128), token: "demo/phone")
            try await browser.show(width: width, scheme: scheme)
            try await browser.wait(shows("kkkk", in: "#keys th"))
            try await browser.execute("$('#keys button').click(); $('#add-key').click()")
            #expect(
                try await browser.text(
                    """
                    const e = document.documentElement;
                    return e.scrollWidth > e.clientWidth ? `${e.scrollWidth} of ${e.clientWidth}` : ''
                    """) == "")
        }
    }

    @Test("text has a contrast of 4.5 or more", arguments: ["light", "dark"])
    func contrast(scheme: String) async throws {
        try await open { browser, client in
            try await client.put("red", "colour", token: "demo/desk")
            try await browser.show(width: 1_280, scheme: scheme)
            try await browser.wait(shows(#""red""#, in: "#events li"))
            // The selected key and event, an error and all kinds of events too.
            try await browser.execute(
                """
                $('#keys button').click(); $('#previous').click();
                $('#status').textContent = 'An error'; $('#status').className = 'error';
                for (const kind of ['change', 'bad', 'fault', 'sync', 'control', 'quiet']) {
                    const row = $('#events li').cloneNode(true);
                    row.querySelector('.kind').className = `kind ${kind}`;
                    $('#events').append(row);
                }
                """)
            try await browser.wait("document.querySelector('#events [aria-selected=true]')")
            #expect(try await browser.text(Self.lowContrasts) == "")
            try await browser.execute("$('#help').click()")
            #expect(try await browser.text(Self.lowContrasts) == "")
        }
    }

    /// Texts whose color differs too little from their background, after WCAG 2.2, 1.4.3. Disabled controls are exempt.
    private static let lowContrasts = """
        const channels = text => text.match(/[0-9.]+/g).map(Number);
        const luminance = ([r, g, b]) => [r, g, b].map(v => v / 255)
            .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
            .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
        const background = element => {
            for (let e = element; e; e = e.parentElement) {
                const color = channels(getComputedStyle(e).backgroundColor);
                if (color.length < 4 || color[3] === 1) return color;
            }
            return [255, 255, 255];
        };
        const low = [];
        let count = 0;
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const element = walker.currentNode.parentElement;
            if (!walker.currentNode.textContent.trim() || !element.checkVisibility()
                || element.closest(':disabled, .button:not([href])')) continue;
            count += 1;
            const [a, b] = [channels(getComputedStyle(element).color), background(element)].map(luminance);
            const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (ratio < 4.5) low.push(`${walker.currentNode.textContent.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
        }
        return count < 50 ? `only ${count} texts` : low.join('\\n');
        """

    @Test("Tab reaches every control, and each shows its focus", arguments: [320, 1_280])
    func keyboard(width: Int) async throws {
        try await open(width: width) { browser, _ in
            try await browser.wait("document.querySelectorAll('#devices article').length === 2")
            let count = try await browser.text(
                """
                window.controls = [...document.querySelectorAll(
                    'a[href], button, input, select, textarea, summary, [tabindex="0"]')]
                    .filter(e => e.checkVisibility() && !e.matches(':disabled'));
                document.activeElement.blur();
                return String(controls.length);
                """)
            var reached: Set<String> = []
            for _ in 0...(Int(count) ?? 0) {
                try await browser.press(.tab)
                let (index, problem) = try await browser.pair(
                    """
                    const e = document.activeElement;
                    const style = getComputedStyle(e);
                    const isVisible = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
                    const name = e.getAttribute('aria-label') || e.textContent || e.title
                        || [...e.labels ?? []].map(l => l.textContent).join();
                    return [String(controls.indexOf(e)), e === document.body ? '' :
                        isVisible ? (name.trim() ? '' : `no name: ${e.outerHTML}`) : `no focus ring: ${e.outerHTML}`];
                    """)
                reached.insert(index)
                #expect(problem == "")
            }
            reached.remove("-1")
            #expect(reached.count == Int(count))
            #expect(reached.count > 20)
        }
    }

    @Test("a dialog keeps the focus, and Escape gives it back")
    func dialog() async throws {
        try await open { browser, _ in
            try await browser.execute("$('#help').focus()")
            try await browser.press("?")
            try await browser.wait("$('#help-dialog').open")
            for _ in 0..<4 {
                try await browser.press(.tab)
                #expect(
                    try await browser.text(
                        "return String(document.activeElement === document.body || $('#help-dialog').contains(document.activeElement))"
                    ) == "true")
            }
            try await browser.press(.escape)
            try await browser.wait("document.activeElement === $('#help')")
        }
    }

    @Test("axe-core finds no accessibility violations", .requiresAxe, arguments: ["light", "dark"])
    func accessibility(scheme: String) async throws {
        try await open { browser, client in
            try await client.put("red", "colour", token: "demo/desk")
            try await browser.show(width: 1_280, scheme: scheme)
            try await browser.wait(shows(#""red""#, in: "#events li"))
            try await browser.click("#keys button.key")
            try await browser.wait("document.querySelector('#why-decisions li')")
            var violations = try await browser.axe()
            try await browser.click("#add-key")
            violations += try await browser.axe()
            #expect(violations.isEmpty, "\(violations)")
        }
    }

    @Test("the panels keep their positions", .requiresStableFonts, arguments: widths)
    func positions(width: Int) async throws {
        try await open(width: width) { browser, _ in
            try await browser.wait("document.querySelectorAll('#devices article').length === 2")
            try await browser.wait("document.querySelectorAll('#events li').length === 2")
            try await browser.wait(shows("demo (2 devices, 1 key)", in: "#world option"))
            try await browser.wait("$('#clock').textContent")
            try await browser.expectLayout(
                of: "header.top, header.top .row, main, main section, .side, #devices article",
                equals: "emulator-\(width)")
        }
    }
}
