import ServerTestSupport
import Testing

/// The page with a keyboard and with screen readers.
extension UsagePageTests {
    @Test("axe-core finds no accessibility violations", .requiresAxe)
    func accessibility() async throws {
        try await open { browser, daemon in
            try await daemon.pushHistory(of: daemon.provider(), quarters: 192)
            func check(_ name: String) async throws {
                try await browser.show(width: 1_280, scheme: "light")
                var violations = try await browser.axe()
                try await browser.show(width: 1_280, scheme: "dark")
                // Other rules do not depend on colors.
                violations += try await browser.axe(tags: ["wcag2aa", "best-practice"])
                #expect(violations.isEmpty, "\(name): \(violations)")
            }
            for route in Self.routes {
                try await go(to: route, browser)
                try await check(route)
            }
            try await browser.click("#list > .row button")
            try await check("a dialog")
            try await browser.press(.escape)
            try await daemon.removePage()
            try await browser.wait("$('form.signin')")
            try await check("signing in")
        }
    }

    @Test("everything works with the keyboard, and the focus moves to what is opened")
    func keyboard() async throws {
        try await open { browser, daemon in
            try await daemon.pushHistory(of: daemon.provider(), quarters: 192)
            try await browser.execute("document.activeElement.blur()")
            #expect(
                try await tabs(browser) == [
                    "Skip to the content", "Usage", "History", "Spending", "Devices", "Keys", "Settings", "Claude",
                    "Codex",
                ])
            try await browser.execute("[...document.querySelectorAll('.card a')].at(-1).focus()")
            try await browser.press(.enter)
            try await browser.wait("document.activeElement === $('#detail') && $('#detail svg')")
            try await browser.execute("$('#detail svg').focus()")
            let before = try await browser.text("return $('#detail .curve').getAttribute('d')")
            try await browser.press("+")
            try await browser.press(.left)
            #expect(try await browser.text("return $('#detail .curve').getAttribute('d')") != before)
            try await browser.press(.tab)
            #expect(try await browser.text("return document.activeElement.localName") == "summary")
            try await activate(browser)
            try await browser.wait("$('#detail details').open")
            try await browser.press(.escape)
            try await browser.wait("document.activeElement.textContent === 'Codex'")
            try await go(to: "settings", browser)
            try await browser.wait("document.activeElement === $('#main')")
            try await browser.press(.tab)
            try await browser.press(.right)
            try await browser.wait("JSON.parse(localStorage.options).measure === 'left'")
            try await browser.wait("document.activeElement.matches(':checked')")
            try await browser.execute("$('#list > .row button').focus()")
            try await activate(browser)
            try await browser.wait("$('#dialog').open && $('#dialog').contains(document.activeElement)")
            try await browser.press(.escape)
            try await browser.wait("document.activeElement === $('#list > .row button')")
        }
    }

    @Test("links to several accounts of a tool have different names, and what has the focus is not below the tabs")
    func accounts() async throws {
        try await open(width: 400) { browser, daemon in
            for number in 1...5 {
                try await daemon.push(
                    daemon.snapshot(
                        "box", id: "\(number)", daemon.provider("amp", "Amp", account: "\(number)@example.test")))
            }
            try await browser.wait("document.querySelectorAll('.card').length === 7")
            let names = try await browser.text(
                "return [...document.querySelectorAll('.card a')].map(e => e.ariaLabel).join()")
            #expect(names.contains("Amp, 1@example.test") && names.contains("Amp, 5@example.test"), "\(names)")
            try await browser.execute("document.querySelectorAll('.card a')[0].focus()")
            for _ in 0..<6 {
                try await browser.press(.tab)
                let isFree = try await browser.execute(
                    """
                    const { bottom } = document.activeElement.getBoundingClientRect();
                    return bottom <= $('#sections').getBoundingClientRect().top;
                    """)
                #expect(isFree as? Bool == true)
            }
        }
    }

    /// Presses Enter on the focused button. Headless Firefox ignores synthesized keys there.
    private func activate(_ browser: Browser) async throws {
        if browser.kind == .firefox {
            try await browser.execute("document.activeElement.click()")
        } else {
            try await browser.press(.enter)
        }
    }

    /// The names of the elements that Tab reaches; expects a visible focus on each.
    private func tabs(_ browser: Browser) async throws -> [String] {
        var names: [String] = []
        while names.count < 20 {
            try await browser.press(.tab)
            let (name, outline) = try await browser.pair(
                """
                const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
                return [document.activeElement === document.body ? '' : document.activeElement.textContent,
                    outlineStyle === 'none' ? 0 : outlineWidth].map(String);
                """)
            if name == "" || name == names.first { break }
            #expect(Double(outline.dropLast(2)) ?? 0 >= 1.5, "\(name) has no focus ring")
            names.append(name)
        }
        return names
    }
}
