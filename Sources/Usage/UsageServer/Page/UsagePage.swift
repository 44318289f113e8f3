// The page of a daemon that shows limits in a browser: its files. Not here: what it shows, which Endpoint answers, and
// signing in, which is the server's.

import Essentials
package import KVStoreServer

/// The files of the page, and behind them the resources that it asks.
package struct UsagePage: ResourceProvider {
    private let endpoint: UsageProvider

    package init(_ endpoint: UsageProvider = UsageProvider()) { self.endpoint = endpoint }

    package func resource(at path: Substring) -> (any AdditionalResource)? {
        if path == CertificatePage.path { return CertificatePage() }
        return Self.files.file(at: path) ?? endpoint.resource(at: path)
    }

    private static let files = WebPage(
        at: "/page/", indexes: ["/"],
        files: [
            "alerts.js": PackageResources.alerts_js,
            "cards.js": PackageResources.cards_js,
            "certificate.css": PackageResources.certificate_css,
            "details.js": PackageResources.details_js,
            "devices.js": PackageResources.devices_js,
            "icon.png": PackageResources.icon_png,
            "icon.svg": PackageResources.icon_svg,
            "keys.js": PackageResources.keys_js,
            "live.js": PackageResources.live_js,
            "page.css": PackageResources.page_css,
            "page.html": PackageResources.page_html,
            "page.js": PackageResources.page_js,
            "page.webmanifest": PackageResources.page_webmanifest,
            "plot.js": PackageResources.plot_js,
            "session.js": PackageResources.session_js,
            "settings.js": PackageResources.settings_js,
            "state.js": PackageResources.state_js,
            "stream.js": PackageResources.stream_js,
            "sw.js": PackageResources.sw_js,
            "times.js": PackageResources.times_js,
            "worker.js": PackageResources.worker_js,
        ])
}
