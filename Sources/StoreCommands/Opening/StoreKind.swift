package import Foundation
internal import Platform
internal import PropertyLists

/// The kinds of stores that can be recognised.
package enum StoreKind: String, Sendable, CaseIterable {
    case sqlite = "SQLite"
    case xml = "XML"
    case binary = "binary"
    case csv = "CSV"
    case json = "JSON"
    /// A web service, opened by its description.
    case service = "web service"
    /// A PostgreSQL database, opened by its URL.
    case postgreSQL = "PostgreSQL"

    /// Whether stores of the kind are files, which have paths.
    package var hasFiles: Bool { self != .service && self != .postgreSQL }

    /// The place and kind of a store.
    package struct Found: Sendable {
        package let url: URL
        package let kind: StoreKind
    }

    /// Finds the store at a path or URL.
    ///
    /// The package of a document (`UIManagedDocument`, `NSPersistentDocument`) stands for the store in it.
    ///
    /// - Throws: An error that says what is there instead, and the correction.
    package static func find(_ place: String) throws -> Found {
        let url = try url(of: place)
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw CommandError.make("There is no store at \(PlaceText.shown(url.path)).", next: "Check the path.")
        }
        return isFolder.boolValue ? try findInFolder(url) : Found(url: url, kind: try kind(ofFile: url))
    }

    /// Returns the file URL of a path or URL.
    ///
    /// - Throws: An error for a place that is not a file, without possible secrets in it.
    package static func url(of place: String) throws -> URL {
        if let url = URL(string: place), url.isFileURL, place.contains("://") { return url.standardizedFileURL }
        try refuseAddress(place)
        return URL(fileURLWithPath: place).standardizedFileURL
    }

    /// - Throws: An error for a URL that is not a file URL, and for a connection string of a database: both would be taken for paths.
    static func refuseAddress(_ place: String) throws {
        if DatabaseReference.isDatabase(place) {
            throw CommandError.make(
                "\(PlaceText.shown(place)) cannot be used here.", reason: "A PostgreSQL database is no place of files.",
                next: "Give the path of a file or folder.")
        }
        if PlaceText.isAddress(place) {
            let scheme = String(place.prefix { $0 != ":" })
            throw CommandError.make(
                // The rest may contain a password.
                "The store at \(scheme)://… cannot be opened.", reason: "“\(scheme)” is no place of files.",
                next: ["http", "https"].contains(scheme.lowercased())
                    ? "Name a description of the web service with --description, and its model with --model."
                    : "Give the path of a file or folder.")
        }
    }

    private static func findInFolder(_ url: URL) throws -> Found {
        let inner = url.appendingPathComponent("StoreContent").appendingPathComponent("persistentStore")
        if FileManager.default.fileExists(atPath: inner.path) { return Found(url: inner, kind: try kind(ofFile: inner)) }
        if ["momd", "xcdatamodeld", "xcdatamodel"].contains(url.pathExtension) { throw isModel(url) }
        let names = try FileManager.default.contentsOfDirectory(atPath: url.path).filter { !$0.hasPrefix(".") }
        let endings = Set(names.map { ($0 as NSString).pathExtension.lowercased() })
        if endings.contains("csv") { return Found(url: url, kind: .csv) }
        if endings.contains("json") { return Found(url: url, kind: .json) }
        let stores = names.sorted().filter { (try? kind(ofFile: url.appendingPathComponent($0))) != nil }
        throw CommandError.make(
            "There is no store at \(PlaceText.shown(url.path)).", reason: "It is a folder without CSV or JSON files.",
            next: stores.isEmpty ? "Give the path of a store." : "It has these stores: \(stores.joined(separator: ", ")).")
    }

    private static func isModel(_ url: URL) -> NSError {
        CommandError.make(
            "The file at \(url.path) is a model, not a store.", next: "Use “coredata model show \(url.lastPathComponent)”.")
    }

    /// Returns the kind of a file by its first bytes, or, if these are not conclusive, by its name.
    private static func kind(ofFile url: URL) throws -> StoreKind {
        guard !RegularFile.isSpecial(url.path) else {
            throw CommandError.make(
                "There is no store at \(PlaceText.shown(url.path)).", reason: "It is a pipe or a device, and no file.",
                next: "Copy what it gives to a file."
            )
        }
        guard let handle = FileHandle(forReadingAtPath: url.path) else {
            throw CommandError.make("The file at \(url.path) cannot be read.", next: "Check its permissions.")
        }
        defer { try? handle.close() }
        let start = try handle.read(upToCount: 4096) ?? Data()
        let ending = url.pathExtension.lowercased()
        if start.starts(with: Data("SQLite format 3\0".utf8)) { return .sqlite }
        if start.starts(with: Data("bplist00".utf8)) {
            if ["mom", "omo", "cdm"].contains(ending) { throw isModel(url) }
            return .binary
        }
        if ending == "csv" || ending == "tsv" { return .csv }
        let text = String(decoding: start, as: UTF8.self).drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        if text.hasPrefix("<") {
            if text.contains("<database") { return .xml }
            if text.contains("<model") { throw isModel(url) }
        }
        if text.hasPrefix("{") || text.hasPrefix("[") || (ending == "json" && text.isEmpty) { return .json }
        throw CommandError.make(
            "The file at \(url.path) is not a store.",
            reason: start.isEmpty
                ? "It is empty." : "It is none of these: SQLite, XML and binary stores of Core Data, CSV, JSON.",
            next: start.isEmpty
                ? "Copy it again, with the file of the same name that ends in -wal."
                : "Check the path; an encrypted store must be decrypted first.")
    }
}
