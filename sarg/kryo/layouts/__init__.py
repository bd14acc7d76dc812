"""Class layouts of Java, Hadoop and the Hive versions as JSON tables, which ``sarg.kryo.layout`` reads."""
