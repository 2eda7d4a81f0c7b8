import CoreData
import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import StoreCommands

/// Importing without writing says what importing does.
@Suite(.enabled(if: BuiltTraits.hasCommand, "\(BuiltTraits.needsCommand)"))
struct ImportTrialTests {
    private let pad: Pad
    private let model: String

    init() throws {
        pad = try Pad()
        let car = NSEntityDescription(name: "Car")
        car.properties = ["plate", "chassis", "maker"].map { NSAttributeDescription(name: $0, type: .string) }
        car.uniquenessConstraints = [["plate"], ["chassis"]]
        let sport = NSEntityDescription(name: "SportCar")
        sport.properties = [NSAttributeDescription(name: "speed", type: .integer64)]
        car.subentities = [sport]
        model = pad.file("Cars.xcdatamodel").path
        try ModelConversion.write(NSManagedObjectModel(entities: [car, sport]), to: model)
    }

    private func write(_ name: String, _ lines: String...) throws -> String {
        let file = pad.file(name)
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
        return file.path
    }

    private func run(_ file: String, _ store: String, writes: Bool) -> String {
        do {
            let outcome = try StoreImport.run(file, into: pad.url.path + "/" + store, model: model, writes: writes)
            return "\(outcome.added) \(outcome.changed) \(outcome.unchanged)"
        } catch { return (error as NSError).localizedDescription }
    }

    private static let stores = ["cars.sqlite", "cars.xml", "cars.binary", "cars.json", "cars/"]

    @Test(arguments: stores) func aTrialSaysWhatWritingDoesAndChangesNothing(store: String) throws {
        let cars = try write("Car.csv", "$id,plate,chassis,maker", "Car/p1,A1,X1,Brack")
        let sport = try write("SportCar.csv", "plate,chassis,maker,speed", "S1,X2,Brack,200")
        let faster = try write("x.json", #"{"SportCar": [{"plate": "S1", "speed": 210}], "Car": [{"chassis": "X1", "maker": "Brack"}]}"#)
        let swapped = try write("y.json", #"{"Car": [{"plate": "A1", "chassis": "X2"}]}"#)
        for (file, outcome) in [(cars, "1 0 0"), (sport, "1 0 0"), (sport, "0 0 1"), (faster, "0 1 1")] {
            let before = try Pad.contents(of: pad.url)
            expect(run(file, store, writes: false), equals: outcome)
            try expect(Pad.contents(of: pad.url), equals: before)
            expect(run(file, store, writes: true), equals: outcome)
        }
        // Both keys are known, of two objects.
        let before = try Pad.contents(of: pad.url)
        let refusal = run(swapped, store, writes: false)
        #expect(refusal.hasPrefix("Nothing is imported: "), "\(refusal)")
        try expect(Pad.contents(of: pad.url), equals: before)
        expect(run(swapped, store, writes: true), equals: refusal)
    }

    @Test func anObjectOfTheParentEntityIsNotTakenForOneOfTheSubentity() throws {
        let cars = try write("Car.csv", "plate,maker", "A1,Brack")
        expect(run(cars, "cars.sqlite", writes: true), equals: "1 0 0")
        let sport = try write("SportCar.csv", "plate,speed", "A1,200")
        for writes in [false, true] {
            #expect(run(sport, "cars.sqlite", writes: writes).contains("The store has this object as “Car”, not as “SportCar”."))
        }
    }

    @Test func twoRecordsWithTheSameKeyAreAMistake() throws {
        let cars = try write("Car.csv", "plate,maker", "A1,Brack", "B1,Brack", "A1,Other")
        for writes in [false, true] {
            let message = run(cars, "cars.sqlite", writes: writes)
            #expect(message.contains("Car.csv, line 4, Car: The record in Car.csv, line 2 is the same object by its plate."), "\(message)")
        }
    }

    @Test func aTrialFindsThatThereIsNoFolderForTheStore() throws {
        let cars = try write("Car.csv", "plate,maker", "A1,Brack")
        #expect(run(cars, "nowhere/cars.sqlite", writes: false).contains("Its folder does not exist"))
    }
}
