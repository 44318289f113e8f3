import KVStoreServer

/// The emulator's web page.
enum EmulatorPage {
    static let files = WebPage(
        at: "/emulator/", indexes: ["/", "/emulator"],
        files: [
            "page.html": PackageResources.page_html, "page.css": PackageResources.page_css,
            "icon.svg": PackageResources.icon_svg, "api.js": PackageResources.api_js,
            "controls.js": PackageResources.controls_js, "devices.js": PackageResources.devices_js,
            "events.js": PackageResources.events_js, "history.js": PackageResources.history_js,
            "keys.js": PackageResources.keys_js, "page.js": PackageResources.page_js,
            "record.js": PackageResources.record_js, "texts.js": PackageResources.texts_js,
        ])
}
