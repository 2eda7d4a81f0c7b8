import CoreData
import FileStores
import Foundation

/// A CSV file of typed records through `FileStores`, and, where they are installed, through Python's `csv` and `pandas`: opening it, a sum, a
/// filter, a look-up, and writing all records, inside one clock.
enum CSVComparison {
    /// Runs every side once and prints its seconds.
    static func run(count: Int) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("csv-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("Sale.csv")
        var text = "id,customer,city,amount,quantity,day,paid,note\n"
        for number in 1...count {
            text += "\(number),Customer \(number * 7919 % 100_000),\(["Berlin", "Paris", "\"Vienna, Centre\""][number % 3]),"
            text += "\(Double(number * 31 % 1_000_000) / 100),\(number % 100),201\(number % 10)-0\(1 + number % 9)-11T10:20:00Z,"
            text += "\(number % 3 == 0),note number \(number)\n"
        }
        try Data(text.utf8).write(to: file)
        // The others read the file as it was before this store has written to it.
        for side in ["csv", "pandas"] { try python(side, file, folder) }
        print("CSV, \(count) records, this store: \(try store(file)) s")
    }

    private static func model() -> NSManagedObjectModel {
        let sale = NSEntityDescription(name: "Sale")
        sale.properties = [
            NSAttributeDescription(name: "id", type: .integer64), NSAttributeDescription(name: "customer", type: .string),
            NSAttributeDescription(name: "city", type: .string), NSAttributeDescription(name: "amount", type: .double),
            NSAttributeDescription(name: "quantity", type: .integer32), NSAttributeDescription(name: "day", type: .date),
            NSAttributeDescription(name: "paid", type: .boolean), NSAttributeDescription(name: "note", type: .string),
        ]
        return NSManagedObjectModel(entities: [sale])
    }

    private static func store(_ file: URL) throws -> Double {
        let start = Date()
        let description = CSVStore.description(at: file)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.addPersistentStore(
            ofType: description.type, configurationName: nil, at: file, options: description.options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let sum = NSFetchRequest<NSDictionary>(entityName: "Sale")
            sum.resultType = .dictionaryResultType
            let total = NSExpressionDescription()
            total.name = "total"
            total.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "amount")])
            total.expressionResultType = .doubleAttributeType
            sum.propertiesToFetch = [total]
            _ = try context.fetch(sum)
            let filter = NSFetchRequest<NSManagedObject>(entityName: "Sale")
            filter.predicate = NSPredicate(format: "city == 'Berlin' AND quantity > 50")
            _ = try context.count(for: filter)
            let lookup = NSFetchRequest<NSManagedObject>(entityName: "Sale")
            lookup.predicate = NSPredicate(format: "id == 7")
            _ = try context.fetch(lookup)
            for sale in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Sale")) { sale.setValue(7, forKey: "quantity") }
            try context.save()
        }
        return Date().timeIntervalSince(start)
    }

    private static func python(_ side: String, _ file: URL, _ folder: URL) throws {
        // Not called as the module that it imports.
        let script = folder.appendingPathComponent("with-\(side).py")
        try Data((side == "pandas" ? pandas : plain).utf8).write(to: script)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            ProcessInfo.processInfo.environment["PYTHON"] ?? "python3", script.path, file.path, folder.appendingPathComponent("out").path,
        ]
        let start = Date()
        try process.run()
        process.waitUntilExit()
        let seconds = Date().timeIntervalSince(start)
        print("CSV, Python's \(side): \(process.terminationStatus == 0 ? "\(seconds) s" : "failed; is it installed?")")
    }

    private static let pandas = """
        import sys, pandas
        d = pandas.read_csv(sys.argv[1], parse_dates=["day"], dtype={"paid": bool})
        d.amount.sum(); ((d.city == "Berlin") & (d.quantity > 50)).sum(); d[d.id == 7].customer.iloc[0]
        d["quantity"] = 7
        d.to_csv(sys.argv[2], index=False)
        """

    private static let plain = """
        import sys, csv, datetime
        with open(sys.argv[1], newline="") as f:
            r = csv.reader(f); h = next(r)
            rows = [[int(x[0]), x[1], x[2], float(x[3]), int(x[4]), datetime.datetime.fromisoformat(x[5].replace("Z", "+00:00")),
                     x[6] == "true", x[7]] for x in r]
        sum(x[3] for x in rows); sum(1 for x in rows if x[2] == "Berlin" and x[4] > 50); next(x for x in rows if x[0] == 7)
        with open(sys.argv[2], "w", newline="") as f:
            w = csv.writer(f); w.writerow(h)
            for x in rows: w.writerow([x[0], x[1], x[2], x[3], 7, x[5].isoformat(), "true" if x[6] else "false", x[7]])
        """
}
