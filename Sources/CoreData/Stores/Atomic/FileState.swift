internal import Foundation

/// What tells one state of a file from another, without reading it: who it is, how long, and when it was last written.
struct FileState: Equatable {
    let text: String

    /// Nil where there is no file, or where it was written so shortly ago that the next writing may carry the same time.
    init?(_ url: URL) {
        guard url.isFileURL, let attributes = try? FileManager.default.attributesOfItem(atPath: url.path),
            let written = attributes[.modificationDate] as? Date, let size = attributes[.size] as? NSNumber,
            Date().timeIntervalSince(written) > 0.1
        else { return nil }
        let number = (attributes[.systemFileNumber] as? NSNumber)?.stringValue ?? "-"
        text = "\(number) \(size) \(written.timeIntervalSinceReferenceDate.bitPattern)"
    }
}
