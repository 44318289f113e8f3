import ServerTestSupport
import Foundation
import TestSupport
import Testing

/// The page that says how a device installs the authority, seen by a browser that does not trust the daemon yet.
@Suite(
    "The page about the certificate",
    .requiresBrowser, .serialized, .browser(acceptsInsecureCertificates: true),
    .timeLimit(.minutes(5)))
struct CertificatePageTests {
    @Test("it shows fingerprint, hosts and steps of the authority, or that there is none, at any width")
    func page() async throws {
        let browser = try #require(Browser.shared)
        let home = try TemporaryHome()
        defer { home.remove() }
        let daemon = try await PairedDaemon(home)
        let url = "https://127.0.0.1:\(daemon.port)/certificate"
        _ = try await browser.complaints()
        try await browser.open(url)
        #expect(try await browser.text("return $('h1').innerText") == "Nothing to install")
        let created = try await home.run("kvsd", ["certificate", "authority", "create", "--name", "box.local"])
        #expect(created.status == 0, "\(created.errors)")
        try await browser.open(url)
        let fingerprint = try await browser.text("return $('#fingerprint').innerText")
        #expect(created.text.contains("fingerprint  \(fingerprint)\n"), "\(fingerprint)")
        let text = try await browser.text("return document.body.innerText")
        #expect(text.contains("box.local, 127.0.0.1") && !text.contains("{{"), "\(text)")
        for device in ["iPhone", "Android", "macOS", "Windows", "Linux", "Firefox"] {
            #expect(text.contains(device))
        }
        let links = try await browser.text(
            "return [...document.querySelectorAll('a.button')].map(a => a.pathname).join(' ')")
        #expect(links == "/certificate/authority.mobileconfig /certificate/authority.crt")
        for (width, scheme) in [(320, "dark"), (768, "light"), (2_560, "light")] {
            try await browser.show(width: width, height: 800, scheme: scheme)
            #expect(
                try await browser.execute("return document.body.scrollWidth <= innerWidth") as? Bool
                    == true, "\(width)")
            try await browser.expectNoViolations()
        }
        #expect(try await browser.complaints().isEmpty)
        try await browser.open("about:blank")
        await daemon.stop()
    }
}
