#if PostgreSQL
import Foundation

/// The same work through SQLAlchemy over psycopg, where Python has both: `PYTHON` names the interpreter.
///
/// It runs in a process of its own, which times itself, and without anything beside it.
struct SQLAlchemyComparison {
    let server: PostgreSQLServer
    /// The schema of the table of items, which is filled.
    let schema: String
    let count: Int
    let rounds: Int
    let seconds: Double
    let writers: Int

    /// Prints the medians of the rounds.
    func run() throws {
        let script = server.folder + "-sqlalchemy.py"
        try Data(Self.program.utf8).write(to: URL(fileURLWithPath: script))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            [ProcessInfo.processInfo.environment["PYTHON"] ?? "python3", script, server.folder, schema]
            + [count, rounds, Int(seconds), writers].map { "\($0)" }
        // What is printed here comes before what the process prints.
        fflush(nil)
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 {
            print("  SQLAlchemy was not compared; it needs: pip install sqlalchemy 'psycopg[binary]'")
        }
    }

    private static let program = """
        import sys, threading, time
        from statistics import median
        from sqlalchemy import create_engine, select, text, BigInteger, Integer, Text
        from sqlalchemy.orm import DeclarativeBase, Session, mapped_column

        folder, schema, count, rounds, seconds, writers = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
        engine = create_engine(f"postgresql+psycopg://bench@/postgres?host={folder}&port=5432", pool_size=writers)
        numbers, texts = [f"i{i}" for i in range(5)], [f"t{i}" for i in range(5)]

        class Base(DeclarativeBase):
            pass

        def columns(table):
            row = {"__tablename__": table, "__table_args__": {"schema": schema}, "id": mapped_column(BigInteger, primary_key=True, autoincrement=False),
                   "entity": mapped_column(Integer), "version": mapped_column(BigInteger, nullable=False)}
            row |= {n: mapped_column(BigInteger) for n in numbers} | {t: mapped_column(Text) for t in texts}
            row["__mapper_args__"] = {"version_id_col": row["version"]}
            return row

        Item = type("Item", (Base,), columns("item"))
        New = type("New", (Base,), columns("item_of_sqlalchemy"))

        def clock(body, prepare=lambda: None):
            times = []
            for _ in range(rounds + 1):
                prepare()
                start = time.perf_counter()
                kept = body()
                times.append(time.perf_counter() - start)
                del kept
            return median(times[1:]) * 1000

        def fetch():
            with Session(engine) as session:
                items = session.scalars(select(Item)).all()
                sum(getattr(i, n) for i in items for n in numbers)
                sum(len(getattr(i, t)) for i in items for t in texts)
                assert len(items) == count
                return items

        values = []
        with Session(engine) as session:
            for i in session.scalars(select(Item)):
                values.append({n: getattr(i, n) for n in numbers + texts})

        def empty():
            with engine.begin() as connection:
                connection.execute(text(f"DROP TABLE IF EXISTS {schema}.item_of_sqlalchemy"))
                connection.execute(text(f"CREATE TABLE {schema}.item_of_sqlalchemy (LIKE {schema}.item INCLUDING ALL)"))

        def create():
            with Session(engine) as session:
                items = [New(id=k + 1, entity=1, **v) for k, v in enumerate(values)]
                session.add_all(items)
                session.commit()
                return items

        def transactions():
            counts = [0] * writers
            end = time.perf_counter() + seconds

            def write(number):
                with Session(engine, expire_on_commit=False) as session:
                    item = session.get(Item, number + 1)
                    while time.perf_counter() < end:
                        item.i1 += 1
                        session.commit()
                        counts[number] += 1

            threads = [threading.Thread(target=write, args=(n,)) for n in range(writers)]
            for t in threads: t.start()
            for t in threads: t.join()
            return sum(counts) / seconds

        print("\\nPostgreSQL: SQLAlchemy over psycopg, in a process of its own")
        print(f"  fetch {count} items, read every property {clock(fetch):9.0f} ms")
        print(f"  create {count} items, save               {clock(create, empty):9.0f} ms")
        print(f"  {writers} writers, each updates one row per transaction {transactions():9.0f} per second")
        """
}
#endif
