// What a daemon serves of usage: the page and its files (Page), what the stored snapshots say (Endpoint), and alerts on
// phones (Notifications, sent by WebPush). Not here: what there is to say (UsageState), and how requests are received
// and devices sign in (KVStoreServer).

import Essentials
package import KVStoreServer

/// All resources about usage that a server has.
package struct UsageResources: ResourceProvider {
    private let resources: [any AdditionalResource]

    package init(_ notifications: NotificationService) {
        let gate = NotificationResource.Gate()
        resources = [
            UsageEndpoint(), CertificatePage(),
            NotificationResource(kind: .subscriptions, service: notifications, gate: gate),
            NotificationResource(kind: .test, service: notifications, gate: gate),
        ]
    }

    package func resource(at path: Substring) -> (any AdditionalResource)? {
        resources.first { $0.template == path } ?? Self.files.file(at: path)
    }

    private static let files = WebPage(
        at: "/page/", indexes: ["/"],
        files: [
            "alerts.js": PackageResources.alerts_js,
            "cards.js": PackageResources.cards_js,
            "certificate.css": PackageResources.certificate_css,
            "details.js": PackageResources.details_js,
            "devices.js": PackageResources.devices_js,
            "dialog.js": PackageResources.dialog_js,
            "history.js": PackageResources.history_js,
            "icon.png": PackageResources.icon_png,
            "icon.svg": PackageResources.icon_svg,
            "icons.js": PackageResources.icons_js,
            "keys.js": PackageResources.keys_js,
            "live.js": PackageResources.live_js,
            "page.css": PackageResources.page_css,
            "page.html": PackageResources.page_html,
            "page.js": PackageResources.page_js,
            "page.webmanifest": PackageResources.page_webmanifest,
            "plot.js": PackageResources.plot_js,
            "question.js": PackageResources.question_js,
            "session.js": PackageResources.session_js,
            "settings.js": PackageResources.settings_js,
            "spending.js": PackageResources.spending_js,
            "start.js": PackageResources.start_js,
            "state.js": PackageResources.state_js,
            "stream.js": PackageResources.stream_js,
            "sw.js": PackageResources.sw_js,
            "times.js": PackageResources.times_js,
            "worker.js": PackageResources.worker_js,
        ], entry: "start.js")
}
