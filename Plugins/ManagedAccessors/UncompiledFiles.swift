import Foundation
import PackagePlugin

/// The Swift files below a target's directory that the target does not compile, and of which the plugin compiles translated copies.
///
/// The file `ManagedAccessors.json` beside the sources names them: `{"translate": ["Model", "Album.swift"]}`. Without it they are, of what the
/// manifest excludes,
///
/// - the folders with a managed object class or `#keyPath` in them, with all their files,
/// - the single files that a compiler without Objective-C rejects.
struct UncompiledFiles {
    private struct Options: Decodable {
        /// The files and folders to translate, relative to the target's directory.
        var translate: [String]?
    }

    /// The files to translate.
    let translated: [URL]

    init(of target: any SourceModuleTarget, in package: Package) throws {
        let root = target.directoryURL.standardizedFileURL.path
        let compiled = Set(target.swiftSources.map(\.standardizedFileURL.path))
        let otherFolders = package.targets.map(\.directoryURL.standardizedFileURL.path).filter { $0.hasPrefix(root + "/") }
        let candidates = target.directoryURL.files(endingWith: [".swift"]).filter { file in
            let path = file.standardizedFileURL.path
            return !compiled.contains(path) && !otherFolders.contains { path.hasPrefix($0 + "/") }
        }
        if let list = try Self.options(of: target)?.translate {
            translated = candidates.filter { Self.isIn(list, $0.standardizedFileURL.path, below: root) }
            return
        }
        var excluded = candidates
        // A file that is neither compiled nor excluded is none of the target's: its manifest lists its sources.
        if let list = ManifestTarget(target.name, inPackageAt: package.directoryURL)?.excluded {
            excluded = candidates.filter { Self.isIn(list, $0.standardizedFileURL.path, below: root) }
        }
        let folders = Dictionary(grouping: excluded) {
            Self.outermostFolder(of: $0.standardizedFileURL.path, below: root, compiled: compiled)
        }
        translated = folders.flatMap { folder, files -> [URL] in
            let isSingle = files.count == 1 && files[0].standardizedFileURL.path == folder
            if isSingle { return files[0].needsTranslation ? files : [] }
            return files.contains { $0.mentionsAccessors || $0.declaresManagedClass || $0.namesKeyPaths } ? files : []
        }.sorted { $0.path < $1.path }
    }

    private static func options(of target: any SourceModuleTarget) throws -> Options? {
        let file = target.directoryURL.appending(path: "ManagedAccessors.json")
        guard let data = try? Data(contentsOf: file) else { return nil }
        do {
            return try JSONDecoder().decode(Options.self, from: data)
        } catch {
            Diagnostics.error(
                "\(file.path) has no options of ManagedAccessors, which look like {\"translate\": [\"Model\", \"Album.swift\"]}: \(error)")
            throw error
        }
    }

    /// Returns whether a path is one of a list, or below one.
    private static func isIn(_ list: [String], _ path: String, below root: String) -> Bool {
        list.contains { entry in
            let place = URL(fileURLWithPath: root).appending(path: entry).standardizedFileURL.path
            return path == place || path.hasPrefix(place.hasSuffix("/") ? place : place + "/")
        }
    }

    /// Returns the outermost folder around a file in which nothing is compiled; the file itself where there is none.
    private static func outermostFolder(of path: String, below root: String, compiled: Set<String>) -> String {
        var folder = root
        for component in path.dropFirst(root.count).split(separator: "/").dropLast() {
            folder += "/" + component
            if !compiled.contains(where: { $0.hasPrefix(folder + "/") }) { return folder }
        }
        return path
    }
}

extension SourceModuleTarget {
    /// The Swift files that the target compiles. Its files include those beside the paths that `sources:` lists, which are no sources.
    var swiftSources: [URL] { sourceFiles.filter { $0.type == .source && $0.url.pathExtension == "swift" }.map(\.url) }
}

extension URL {
    /// Returns the files and folders with given endings below a folder, without nested packages.
    func files(endingWith endings: [String]) -> [URL] {
        guard let enumerator = FileManager.default.enumerator(at: self, includingPropertiesForKeys: nil) else { return [] }
        var found: [URL] = []
        for case let file as URL in enumerator {
            if file.lastPathComponent.hasPrefix(".") {
                enumerator.skipDescendants()
            } else if endings.contains(where: file.lastPathComponent.hasSuffix) {
                found.append(file)
            }
        }
        return found.sorted { $0.path < $1.path }
    }

    /// Returns whether the file contains one of some texts.
    func contains(_ texts: String...) -> Bool {
        guard let data = try? Data(contentsOf: self) else { return false }
        return texts.contains { data.range(of: Data($0.utf8)) != nil }
    }

    var mentionsAccessors: Bool { contains("@NSManaged") }

    /// Whether the file has a class that is visible to Objective-C and inherits from `NSManagedObject`; its properties may be generated.
    var declaresManagedClass: Bool {
        contains("@objc") && contains(": NSManagedObject ", ": NSManagedObject{", ": NSManagedObject,", ": NSManagedObject\n")
    }

    /// Whether the file uses the key paths of Objective-C, and no user interface of Apple's.
    var namesKeyPaths: Bool { contains("#keyPath") && !importsInterface }

    /// Whether a compiler without Objective-C rejects the file, and a translated copy may compile.
    var needsTranslation: Bool {
        mentionsAccessors || declaresManagedClass || contains("@objc", "#keyPath", "@nonobjc", "dynamic var ") && !importsInterface
    }

    private var importsInterface: Bool { contains("import UIKit", "import AppKit", "import SwiftUI", "import Cocoa", "import WatchKit") }
}
