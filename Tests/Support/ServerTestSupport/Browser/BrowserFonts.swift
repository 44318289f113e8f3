import Foundation
import TestSupport

/// The fonts of DejaVu for every family, whatever fonts a machine has.
enum BrowserFonts {
    private static let directory = "/usr/share/fonts/truetype/dejavu"

    static let areInstalled = FileManager.default.fileExists(atPath: directory + "/DejaVuSans.ttf")

    /// Hides other fonts from the programs of a home.
    static func restrict(_ home: inout TemporaryHome) throws {
        guard areInstalled else { return }
        home.variables["FONTCONFIG_FILE"] = try home.file(
            "fonts.conf",
            """
            <?xml version="1.0"?>
            <!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
            <fontconfig>
              <dir>\(directory)</dir>
              <cachedir>\(home.path)/fonts</cachedir>
              <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
              <alias><family>ui-monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
              <match>
                <edit name="family" mode="append_last"><string>DejaVu Sans</string></edit>
              </match>
            </fontconfig>
            """)
    }
}
