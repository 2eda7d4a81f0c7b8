import CoreData
import Foundation
import TestSupport
import Testing

@testable import Migration

/// The mapping models of an application that has four of them, from filled stores of its versions. The suite runs when the environment names the folder
/// that holds them; it works on copies.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] != nil)) struct MoodyMigrationTests {
    private static let owner = "objcio+core-data"
    private static var folder: URL { URL(fileURLWithPath: ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] ?? "") }
    private static var mappings: URL { folder.appendingPathComponent("mapping/\(owner)/Migrations/Migrations") }

    /// The versions of a color list are kept as they are: the application's transformer is not here.
    static let transformer: Void = ValueTransformer.setValueTransformer(
        ColorsTransformer(), forName: NSValueTransformerName("ColorsTransformer"))

    static func model(_ version: Int) throws -> NSManagedObjectModel {
        _ = transformer
        let bundle = folder.appendingPathComponent("models/\(owner)/Migrations/Migrations/Moody.xcdatamodeld")
        let name = version == 1 ? "Moody" : "Moody \(version)"
        return try NSManagedObjectModel(reading: bundle.appendingPathComponent("\(name).xcdatamodel"))
    }

    static func mapping(_ version: Int) throws -> NSMappingModel {
        try NSMappingModel(reading: mappings.appendingPathComponent("Moody \(version)-Moody \(version + 1).xcmappingmodel"))
    }

    private static func migrate(_ url: URL, from version: Int) throws -> URL {
        let (source, destination) = (try model(version), try model(version + 1))
        let new = url.deletingLastPathComponent().appendingPathComponent("moody \(version + 1)")
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        try manager.migrateStore(from: url, type: .sqlite, mapping: try mapping(version), to: new, type: .sqlite)
        return new
    }

    private static func count(_ entity: String, _ url: URL, _ version: Int) throws -> Int {
        try LibraryVersions.withStore(url, try model(version)) { try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: entity)) }
    }

    /// Fills a store of version 2.
    private static func fill(_ url: URL) throws {
        try LibraryVersions.withStore(url, try model(2)) { context in
            for number in 0..<3 {
                let continent = NSEntityDescription.insertNewObject(forEntityName: "Continent", into: context)
                continent.setValuesForKeys([
                    "numericISO3166Code": 100 + number, "numberOfCountries": 2, "updatedAt": Date(timeIntervalSince1970: 1),
                ])
                for index in 0..<2 {
                    let country = NSEntityDescription.insertNewObject(forEntityName: "Country", into: context)
                    country.setValuesForKeys([
                        "numericISO3166Code": number * 10 + index, "numberOfMoods": 3, "updatedAt": Date(timeIntervalSince1970: 2),
                    ])
                    country.setValue(continent, forKey: "continent")
                    for count in 0..<3 {
                        let mood = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
                        mood.setValuesForKeys([
                            "date": Date(timeIntervalSince1970: Double(count)), "rating": count, "creatorID": "\(number).\(index).\(count)",
                            "colors": Data([1, 2, 3]),
                        ])
                        mood.setValue(country, forKey: "country")
                    }
                }
            }
            try context.save()
        }
    }

    @Test("The four mapping models of the application migrate a filled store from version 2 to 6")
    func chain() throws {
        let folder = try MappingFolder()
        try Self.fill(folder.old)
        let third = try Self.migrate(folder.old, from: 2)
        // Version 3 has the moods of a continent, by a path over two relationships.
        let moods = try LibraryVersions.withStore(third, try Self.model(3)) { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Continent")).map {
                ($0.value(forKey: "moods") as? Set<NSManagedObject>)?.count ?? 0
            }
        }
        expect(moods, equals: [6, 6, 6])
        let fourth = try Self.migrate(third, from: 3)
        try expect(Self.count("Mood", fourth, 4), equals: 18)
        let fifth = try Self.migrate(fourth, from: 4)
        // Version 5 keeps the number of the continent in the country.
        let codes = try LibraryVersions.withStore(fifth, try Self.model(5)) { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Country")).compactMap {
                $0.value(forKey: "isoContinent") as? Int
            }.sorted()
        }
        expect(codes, equals: [100, 100, 101, 101, 102, 102])
        let sixth = try Self.migrate(fifth, from: 5)
        // Version 6 has continents again, which a policy of the application makes of the numbers.
        let lines = try LibraryVersions.withStore(sixth, try Self.model(6)) { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Mood")).map { mood in
                "\(mood.value(forKey: "creatorID") ?? "-") \(mood.value(forKeyPath: "country.continent.numericISO3166Code") ?? "-") \((mood.value(forKey: "colors") as? Data)?.count ?? 0)"
            }.sorted()
        }
        expect(
            lines,
            equals: (0..<3).flatMap { number in (0..<2).flatMap { index in (0..<3).map { "\(number).\(index).\($0) \(100 + number) 3" } } }
        )
        try expect(Self.count("Continent", sixth, 6), equals: 3)
    }

    @Test("Stores that the application has made on Apple's systems migrate on by its mapping models", arguments: [2, 4])
    func realStores(version: Int) throws {
        let folder = try MappingFolder()
        let source = Self.folder.appendingPathComponent("stores/\(Self.owner)/Moody \(version).moody")
        for ending in ["", "-wal"] where FileManager.default.fileExists(atPath: source.path + ending) {
            try FileManager.default.copyItem(atPath: source.path + ending, toPath: folder.old.path + ending)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder.old.path + ending)
        }
        var url = folder.old
        let before = try (Self.count("Mood", url, version), Self.count("Country", url, version))
        #expect(before.0 > 0)
        for step in version..<6 { url = try Self.migrate(url, from: step) }
        try expect(Self.count("Mood", url, 6), equals: before.0)
        try expect(Self.count("Country", url, 6), equals: before.1)
        let stray = try LibraryVersions.withStore(url, try Self.model(6)) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Mood")
            request.predicate = NSPredicate(format: "country == nil")
            return try context.count(for: request)
        }
        expect(stray, equals: 0)
    }

    @Test("The mapping model between two versions is found among those of the application, and none where there is none")
    func found() throws {
        let folder = try MappingFolder()
        let place = folder.url.appendingPathComponent("App.bundle")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        for version in 2..<6 {
            let name = "Moody \(version)-Moody \(version + 1).xcmappingmodel"
            try FileManager.default.copyItem(at: Self.mappings.appendingPathComponent(name), to: place.appendingPathComponent(name))
        }
        let bundle = try #require(Bundle(url: place))
        for version in 2..<6 {
            let mapping = try #require(
                NSMappingModel(from: [bundle], forSourceModel: try Self.model(version), destinationModel: try Self.model(version + 1)))
            #expect(mapping == (try Self.mapping(version)).resolved(from: try Self.model(version), to: try Self.model(version + 1)))
        }
        #expect(NSMappingModel(from: [bundle], forSourceModel: try Self.model(2), destinationModel: try Self.model(4)) == nil)
        #expect(NSMappingModel(from: [bundle], forSourceModel: try Self.model(1), destinationModel: try Self.model(2)) == nil)
        print("The suite ran over 4 mapping models and 2 stores.")
    }
}

/// Keeps the bytes of a value. The name is one for the whole program, in which other tests fill stores of the same models with other values: those
/// become property lists.
final class ColorsTransformer: ValueTransformer {
    override class func allowsReverseTransformation() -> Bool { true }
    override func transformedValue(_ value: Any?) -> Any? {
        guard let value else { return nil }
        return value as? Data ?? (try? PropertyListSerialization.data(fromPropertyList: value, format: .binary, options: 0))
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        guard data.starts(with: Data("bplist".utf8)) else { return data }
        return try? PropertyListSerialization.propertyList(from: data, format: nil)
    }
}

/// The policy of the application's last mapping model, which names it with the application's module.
final class Country5ToCountry6Policy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard let code = sInstance.value(forKey: "isoContinent") as? Int,
            let country = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance]).first
        else { return }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Continent")
        request.predicate = NSPredicate(format: "numericISO3166Code == %d", code)
        let known = try manager.destinationContext.fetch(request).first
        let continent = known ?? NSEntityDescription.insertNewObject(forEntityName: "Continent", into: manager.destinationContext)
        continent.setValue(code, forKey: "numericISO3166Code")
        country.setValue(continent, forKey: "continent")
    }
}
