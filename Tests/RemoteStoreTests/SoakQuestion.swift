import CoreData
import Foundation
import PredicateCases
import TestSupport

/// An album as the backend has it.
struct SoakAlbum: Hashable, Sendable {
    let title: String
    let year: Int64
    let notes: String?
    let band: String?
}

/// A fetch, and what is read of its results.
struct SoakQuestion: Sendable {
    private let years: Range<Int64>?
    private let isOfBands: Bool
    private let isSorted: Bool
    private let limit: Int
    private let offset: Int

    init(_ random: inout SeededGenerator) {
        let first = Int64.random(in: 1960...1999, using: &random)
        years = Bool.random(using: &random) ? first..<(first + 15) : nil
        isOfBands = Int.random(in: 0..<4, using: &random) == 0
        isSorted = Bool.random(using: &random)
        limit = isSorted && Bool.random(using: &random) ? Int.random(in: 1...6, using: &random) : 0
        offset = limit > 0 ? Int.random(in: 0...3, using: &random) : 0
    }

    /// Returns whether the answer is right; false where there is an error instead.
    ///
    /// - Throws: ``SoakMistake`` for an answer that is wrong.
    func ask(_ context: NSManagedObjectContext, _ albums: [SoakAlbum]) async throws -> Bool {
        isOfBands ? try await askForBands(context, albums) : try await askForAlbums(context, albums)
    }

    private func askForAlbums(_ context: NSManagedObjectContext, _ albums: [SoakAlbum]) async throws -> Bool {
        var expected = albums.filter { album in years.map { $0.contains(album.year) } ?? true }
        if isSorted { expected.sort { ($0.year, $0.title) < ($1.year, $1.title) } }
        expected = Array(expected.dropFirst(offset))
        if limit > 0 { expected = Array(expected.prefix(limit)) }
        let format = years.map { "year >= \($0.lowerBound) AND year < \($0.upperBound)" }
        let request = fetchRequest("Album", format, by: isSorted ? ["year", "title"] : [], limit: limit, offset: offset)
        let found: [SoakAlbum]
        do {
            let objects = try await context.fetchAsynchronously(request)
            try await context.load(objects, "notes", "band.name")
            let shown = QueueValue(objects)
            found = await context.perform {
                shown.value.map { album in
                    SoakAlbum(
                        title: album.value(forKey: "title") as? String ?? "?", year: album.value(forKey: "year") as? Int64 ?? 0,
                        notes: album.value(forKey: "notes") as? String, band: album.value(forKeyPath: "band.name") as? String)
                }
            }
        } catch { return false }
        let isRight = isSorted ? found == expected : Set(found) == Set(expected) && found.count == expected.count
        if isRight { return true }
        throw SoakMistake(description: "A fetch of \(self) has found \(found), not \(expected).")
    }

    private func askForBands(_ context: NSManagedObjectContext, _ albums: [SoakAlbum]) async throws -> Bool {
        let owned = Dictionary(grouping: albums.filter { $0.band != nil }, by: { $0.band ?? "" }).mapValues { Set($0.map(\.title)) }
        let found: [(String, Set<String>)]
        do {
            let objects = try await context.fetchAsynchronously(fetchRequest("Band"))
            try await context.load(objects, "albums.title")
            let shown = QueueValue(objects)
            found = await context.perform {
                shown.value.map { band in
                    let albums = band.value(forKey: "albums") as? Set<NSManagedObject> ?? []
                    return (band.value(forKey: "name") as? String ?? "?", Set(albums.compactMap { $0.value(forKey: "title") as? String }))
                }
            }
        } catch { return false }
        for (name, titles) in found where titles != owned[name] ?? [] {
            throw SoakMistake(description: "\(name) has \(titles.sorted()), not \((owned[name] ?? []).sorted()).")
        }
        let names = found.map(\.0)
        guard Set(names).count == names.count, Set(names).isSuperset(of: owned.keys) else {
            throw SoakMistake(description: "The bands are \(names), with all of \(owned.keys.sorted()).")
        }
        return true
    }
}
